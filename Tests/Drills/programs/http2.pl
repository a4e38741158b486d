# Protocol::HTTP2, with a push certificate: one request after the other on one connection, as its example client does it.
use strict;
use warnings;
use IO::Socket::SSL;
use JSON::PP;
use Protocol::HTTP2::Client;

sub setting { $ENV{"APNS_EMULATOR_$_[0]"} }

open my $list, '<', setting('TOKEN_FILE') or die $!;
my @tokens = map { (split)[0] } <$list>;
open my $report, '>', setting('REPORT') or die $!;
my ($port) = setting('PROVIDER') =~ /(\d+)$/;
my $tls = IO::Socket::SSL->new(
    PeerHost => 'localhost', PeerPort => $port, SSL_ca_file => setting('CA'), SSL_alpn_protocols => ['h2'],
    SSL_cert_file => setting('CERT'), SSL_key_file => setting('CERT_KEY'),
) or die "no connection: $SSL_ERROR";

my $client = Protocol::HTTP2::Client->new(on_error => sub { warn "error $_[0]\n" });

sub push_next {
    my $token = $tokens[0] // return $client->close;
    $client->request(
        ':method' => 'POST', ':scheme' => 'https', ':authority' => 'localhost', ':path' => "/3/device/$token",
        headers => ['apns-topic' => setting('TOPIC'), 'apns-push-type' => 'alert'],
        data => encode_json({ aps => { alert => 'Hello' } }),
        on_done => sub {
            my ($fields, $body) = @_;
            my %field = @$fields;
            print {$report} "$token $body\n" unless $field{':status'} == 200;
            shift @tokens;
            push_next();
        },
        on_error => sub { print {$report} "$token error $_[0]\n"; shift @tokens; push_next() },
    );
}

push_next();
until ($client->shutdown) {
    while (my $frame = $client->next_frame) { print {$tls} $frame }
    last if $client->shutdown;
    sysread $tls, my $bytes, 16_384 or last;
    $client->feed($bytes);
}
print {$report} "$_ no answer\n" for @tokens;
