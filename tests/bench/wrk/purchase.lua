-- A whole purchase: create a checkout, confirm it, read the order. One connection per thread, because each answer makes
-- the next request.
local tokens, n, run, price, thread = {}, 0, "", "", 0
local step, checkout, order = 0, "", ""

function setup(t)
	t:set("id", thread)
	thread = thread + 1
end

function init(args)
	for line in io.lines(args[1]) do
		tokens[#tokens + 1] = line:match("^(%S+)")
	end
	run, price = args[2], args[3]
	n = id * 1000
end

local function post(path, body)
	return wrk.format("POST", path, {
		Authorization = "Bearer " .. tokens[n % #tokens + 1],
		["Content-Type"] = "application/json",
		["Idempotency-Key"] = run .. "-" .. id .. "-" .. n,
	}, body)
end

function request()
	n = n + 1
	if step == 0 then
		return post("/v1/checkouts", '{"customer_email":"buyer-' .. run .. id .. n .. '@example.com","line_items":[{"price_variant":"' .. price .. '"}]}')
	elseif step == 1 then
		return post("/v1/checkouts/" .. checkout .. "/confirm", '{"payment_method":"pm_card_visa"}')
	end
	return wrk.format("GET", "/v1/orders/" .. order, { Authorization = "Bearer " .. tokens[n % #tokens + 1] })
end

function response(status, headers, body)
	if step == 0 then
		checkout = body:match('"id":"(chk_%w+)"')
	elseif step == 1 then
		order = body:match('"order":"(order_%w+)"')
	end
	step = (step + 1) % 3
	if status >= 300 then
		step = 0
	end
end
