-- Creates products, each under an Idempotency-Key and a name of its own.
local tokens, n, run = {}, 0, ""

function init(args)
	for line in io.lines(args[1]) do
		tokens[#tokens + 1] = line:match("^(%S+)")
	end
	run = args[2]
end

function request()
	n = n + 1
	local name = run .. "-" .. n
	return wrk.format("POST", "/v1/products", {
		Authorization = "Bearer " .. tokens[n % #tokens + 1],
		["Content-Type"] = "application/json",
		["Idempotency-Key"] = name,
	}, '{"name":"Handbook ' .. name .. '","headline":"300 pages for working programmers"}')
end
