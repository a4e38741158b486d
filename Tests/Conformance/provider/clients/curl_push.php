<?php
// A provider as PHP programs are written today: curl and a token; HTTP/2, and a proxy as the operator has set it.
$task = json_decode(stream_get_contents(STDIN), true);
$counts = [];
foreach ($task['tokens'] as $number => $token) {
    $curl = curl_init("https://api.sandbox.push.apple.com/3/device/$token");
    curl_setopt_array($curl, [
        CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_2_0,
        CURLOPT_PROXY => "http://{$task['proxy'][0]}:{$task['proxy'][1]}",
        CURLOPT_CAINFO => getenv('SSL_CERT_FILE'),
        CURLOPT_POSTFIELDS => json_encode(['aps' => ['alert' => (string) $number]]),
        CURLOPT_HTTPHEADER => ["authorization: {$task['bearer']}", "apns-topic: {$task['topic']}", 'apns-push-type: alert'],
        CURLOPT_RETURNTRANSFER => true,
    ]);
    $body = curl_exec($curl);
    $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
    $outcome = $status == 200 ? '200' : (json_decode((string) $body)->reason ?? curl_error($curl));
    $counts[$outcome] = ($counts[$outcome] ?? 0) + 1;
}
echo json_encode($counts);
