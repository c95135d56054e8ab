-- Reads with a different key each time, so that the rate limiter stays on. Arguments: a file with one request per line,
-- "token path".
local requests, next_request = {}, 0

function init(args)
	for line in io.lines(args[1]) do
		local token, path = line:match("^(%S+) (%S+)$")
		requests[#requests + 1] = wrk.format("GET", path, { Authorization = "Bearer " .. token })
	end
	math.randomseed(os.time())
	next_request = math.random(#requests)
end

function request()
	next_request = next_request % #requests + 1
	return requests[next_request]
end
