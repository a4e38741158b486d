<?php
// PHP's curl over HTTP/2: one handle, one push after the other.

require __DIR__ . '/provider_token.php';

$setting = fn (string $name): string => getenv("APNS_EMULATOR_$name");
$tokens = array_map(fn (string $line): string => strtok($line, ' '), file($setting('TOKEN_FILE'), FILE_IGNORE_NEW_LINES));
$report = fopen($setting('REPORT'), 'w');
$bearer = provider_token($setting('KEY'), $setting('KEY_ID'), $setting('TEAM'));
$curl = curl_init();
foreach ($tokens as $token) {
    curl_setopt_array($curl, [
        CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_2_0,
        CURLOPT_URL => 'https://' . $setting('PROVIDER') . "/3/device/$token",
        CURLOPT_CAINFO => $setting('CA'),
        CURLOPT_POST => true,
        CURLOPT_POSTFIELDS => json_encode(['aps' => ['alert' => 'Hello']]),
        CURLOPT_HTTPHEADER => ["authorization: bearer $bearer", "apns-topic: {$setting('TOPIC')}", 'apns-push-type: alert'],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 30,
    ]);
    $body = curl_exec($curl);
    if ($body === false || curl_getinfo($curl, CURLINFO_HTTP_CODE) !== 200) {
        fwrite($report, "$token " . ($body === false ? curl_error($curl) : $body) . "\n");
    }
}
