<?php
// Reads the feedback service 38 bytes at a time, as tutorials did.
// Usage: php read_feedback.php HOST PORT CERTIFICATE_WITH_KEY CA

$ctx = stream_context_create();
stream_context_set_option($ctx, 'ssl', 'local_cert', $argv[3]);
stream_context_set_option($ctx, 'ssl', 'cafile', $argv[4]);
stream_context_set_option($ctx, 'ssl', 'peer_name', 'feedback.sandbox.push.apple.com');

$apns = stream_socket_client("ssl://{$argv[1]}:{$argv[2]}", $errcode, $errstr, 60, STREAM_CLIENT_CONNECT, $ctx);
if (!$apns) {
    exit("ERROR $errcode: $errstr" . PHP_EOL);
}
while (!feof($apns)) {
    $data = fread($apns, 38);
    if (strlen($data)) {
        $tuple = unpack('N1timestamp/n1length/H*devtoken', $data);
        echo "{$tuple['timestamp']} {$tuple['length']} {$tuple['devtoken']}" . PHP_EOL;
    }
}
fclose($apns);
