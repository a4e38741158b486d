<?php
// The later kind of tutorial script: command 1 for a list of tokens, then half a second's wait for an error packet.
// Usage: php enhanced_push.php HOST PORT CERTIFICATE_WITH_KEY CA MESSAGE TOKEN…

$host = $argv[1];
$port = $argv[2];
$tokens = array_slice($argv, 6);

$ctx = stream_context_create(array('ssl' => array(
    'local_cert' => $argv[3],
    'cafile' => $argv[4],
    'peer_name' => 'gateway.sandbox.push.apple.com',
)));
$fp = stream_socket_client("ssl://$host:$port", $error, $errorString, 100, STREAM_CLIENT_CONNECT, $ctx);
if (!$fp) {
    exit("Failed to connect: $error $errorString" . PHP_EOL);
}
stream_set_blocking($fp, 0);

$payload = json_encode(array('aps' => array('alert' => $argv[5])));
$expiry = time() + 90 * 24 * 60 * 60;
foreach ($tokens as $identifier => $token) {
    $msg = pack('C', 1) . pack('N', $identifier) . pack('N', $expiry)
        . pack('n', 32) . pack('H*', str_replace(' ', '', $token))
        . pack('n', strlen($payload)) . $payload;
    fwrite($fp, $msg);
}

usleep(500000);
$response = fread($fp, 6);
if ($response) {
    $error = unpack('Ccommand/Cstatus_code/Nidentifier', $response);
    echo "error command={$error['command']} status={$error['status_code']} identifier={$error['identifier']}" . PHP_EOL;
} else {
    echo 'no error' . PHP_EOL;
}
fclose($fp);
