<?php
// A push script of the kind that tutorials showed from 2009 on: command 0, one notification, no look at an answer.
// Usage: php simple_push.php HOST PORT CERTIFICATE_WITH_KEY CA TOKEN MESSAGE

list(, $host, $port, $certificate, $authority, $deviceToken, $message) = $argv;

$ctx = stream_context_create();
stream_context_set_option($ctx, 'ssl', 'local_cert', $certificate);
stream_context_set_option($ctx, 'ssl', 'passphrase', '');
stream_context_set_option($ctx, 'ssl', 'cafile', $authority);
stream_context_set_option($ctx, 'ssl', 'peer_name', 'gateway.sandbox.push.apple.com');

$fp = stream_socket_client("ssl://$host:$port", $err, $errstr, 60,
    STREAM_CLIENT_CONNECT | STREAM_CLIENT_PERSISTENT, $ctx);
if (!$fp) {
    exit("Failed to connect: $err $errstr" . PHP_EOL);
}
echo 'Connected to APNS' . PHP_EOL;

$body['aps'] = array('alert' => $message, 'sound' => 'default');
$payload = json_encode($body);

$msg = chr(0) . pack('n', 32) . pack('H*', $deviceToken) . pack('n', strlen($payload)) . $payload;
$result = fwrite($fp, $msg, strlen($msg));

if (!$result) {
    echo 'Message not delivered' . PHP_EOL;
} else {
    echo 'Message successfully delivered' . PHP_EOL;
}
fclose($fp);
