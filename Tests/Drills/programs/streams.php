<?php
// PHP's streams and the binary protocol as tutorials had it: write all, believe what fwrite says.

$setting = fn (string $name): string => getenv("APNS_EMULATOR_$name");
$tokens = array_map(fn (string $line): string => strtok($line, ' '), file($setting('TOKEN_FILE'), FILE_IGNORE_NEW_LINES));
$report = fopen($setting('REPORT'), 'w');

// Certificate and key in one file, as PHP wants them.
$bundle = tempnam(sys_get_temp_dir(), 'push');
file_put_contents($bundle, file_get_contents($setting('CERT')) . file_get_contents($setting('CERT_KEY')));
register_shutdown_function('unlink', $bundle);

$context = stream_context_create(['ssl' => ['local_cert' => $bundle, 'cafile' => $setting('CA')]]);
$gateway = stream_socket_client(
    'ssl://' . $setting('GATEWAY'), $error, $text, 60, STREAM_CLIENT_CONNECT | STREAM_CLIENT_PERSISTENT, $context);
if (!$gateway) {
    exit("Failed to connect: $error $text\n");
}
$payload = json_encode(['aps' => ['alert' => 'Hello']]);
foreach ($tokens as $token) {
    $message = chr(0) . pack('n', 32) . pack('H*', $token) . pack('n', strlen($payload)) . $payload;
    if (!@fwrite($gateway, $message, strlen($message))) {
        fwrite($report, "$token not delivered\n");
    }
}
fclose($gateway);
