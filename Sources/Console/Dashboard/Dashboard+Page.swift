extension Dashboard {
  static let page = #"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>apns-emulator</title>
    <link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%232563eb'/%3E%3Cpath d='M16 6a6 6 0 0 0-6 6v6l-2 4h16l-2-4v-6a6 6 0 0 0-6-6zm-3 17a3 3 0 0 0 6 0z' fill='white'/%3E%3C/svg%3E">
    <link rel="stylesheet" href="/dashboard.css">
    <script src="/dashboard.js" defer></script>
    </head>
    <body>
    <a class="skip" href="#main">Skip to content</a>
    <header>
    <h1>apns-emulator</h1>
    <span id="environment" class="badge"></span>
    <span id="live" class="live" role="status">connecting</span>
    <time id="now" title="Emulator clock"></time>
    <span class="space"></span>
    <a href="/docs">API</a>
    <button id="reset" type="button">Reset…</button>
    <button id="theme" type="button" aria-label="Switch between light and dark">◐</button>
    <button id="help" type="button" aria-label="Keyboard shortcuts">?</button>
    </header>
    <div id="notices" role="status"></div>
    <nav id="nav" aria-label="Panes"></nav>
    <main id="main" tabindex="0"></main>
    <div id="toasts" role="status" aria-live="polite"></div>
    <noscript>The dashboard needs JavaScript; the same is at /api/v1/ for programs.</noscript>
    </body>
    </html>
    """#
}
