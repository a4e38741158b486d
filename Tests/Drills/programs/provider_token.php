<?php
// A provider token as PHP programs make it, with OpenSSL: its signature stays in ASN.1, which Apple takes too.

function provider_token(string $key, string $id, string $team): string
{
    $part = fn (string $text): string => rtrim(strtr(base64_encode($text), '+/', '-_'), '=');
    $unsigned = $part(json_encode(['alg' => 'ES256', 'kid' => $id])) . '.' . $part(json_encode(['iss' => $team, 'iat' => time()]));
    openssl_sign($unsigned, $signature, openssl_pkey_get_private(file_get_contents($key)), 'sha256');
    return "$unsigned." . $part($signature);
}
