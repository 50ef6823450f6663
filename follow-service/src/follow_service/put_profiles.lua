#!lua flags=allow-cross-slot-keys
-- Keep what is known of people. ARGV: seconds; "1" if it was read of the table, "0" if an event says it; then of each: key, version,
-- text. An event never lets live longer what is kept.
for i = 3, #ARGV, 3 do
  local version, old = tonumber(ARGV[i + 1]), redis.call('GET', ARGV[i])
  local kept = old and tonumber(old:match('^%d+')) or -1
  local text = ARGV[i + 1] .. ' ' .. ARGV[i + 2]
  if version > kept and old and ARGV[2] == '0' then
    redis.call('SET', ARGV[i], text, 'KEEPTTL')
  elseif version > kept or version == kept and ARGV[2] == '1' then
    redis.call('SET', ARGV[i], text, 'EX', ARGV[1])
  end
end
return 1
