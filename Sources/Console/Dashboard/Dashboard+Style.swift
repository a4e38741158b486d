extension Dashboard {
  static let style = #"""
    :root {
      color-scheme: light dark;
      --back: #f6f7f9; --panel: #ffffff; --raised: #eef0f4; --line: #d8dce3; --text: #16191f; --faint: #5a6372;
      --accent: #1d4ed8; --accent-text: #ffffff; --good: #15703a; --bad: #b42318; --warn: #8a5300; --wait: #5b4bb5;
      --f1: #cfe1ff; --f2: #ffe2b8; --f3: #d0f0d6; --f4: #f4d3ea; --f5: #e3dcff; --f6: #ffd6d0; --f7: #d3eef0;
      font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
    }
    @media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {
      --back: #0f1216; --panel: #171b21; --raised: #212730; --line: #303844; --text: #e8ebf0; --faint: #9aa5b4;
      --accent: #6ea0ff; --accent-text: #0b1220; --good: #58c482; --bad: #ff8a7a; --warn: #e9b44c; --wait: #b1a5ff;
      --f1: #1d3a66; --f2: #5a3f12; --f3: #1d4a2a; --f4: #552646; --f5: #3a3070; --f6: #5e2620; --f7: #17474b;
    } }
    :root[data-theme=dark] {
      color-scheme: dark;
      --back: #0f1216; --panel: #171b21; --raised: #212730; --line: #303844; --text: #e8ebf0; --faint: #9aa5b4;
      --accent: #6ea0ff; --accent-text: #0b1220; --good: #58c482; --bad: #ff8a7a; --warn: #e9b44c; --wait: #b1a5ff;
      --f1: #1d3a66; --f2: #5a3f12; --f3: #1d4a2a; --f4: #552646; --f5: #3a3070; --f6: #5e2620; --f7: #17474b;
    }
    :root[data-theme=light] { color-scheme: light; }
    * { box-sizing: border-box; }
    html, body { height: 100%; margin: 0; }
    body {
      display: grid; grid-template: auto auto 1fr / 12.5rem minmax(0, 1fr);
      grid-template-areas: "head head" "notices notices" "nav main";
      background: var(--back); color: var(--text);
    }
    header {
      grid-area: head; display: flex; gap: .75rem; align-items: center; padding: .5rem 1rem;
      background: var(--panel); border-bottom: 1px solid var(--line);
    }
    #notices { grid-area: notices; }
    .notice {
      display: flex; gap: .75rem; align-items: center; justify-content: space-between; padding: .45rem 1rem;
      background: var(--raised); border-bottom: 1px solid var(--line); border-left: 4px solid var(--accent);
    }
    .notice.trouble, .notice.address { border-left-color: var(--warn); }
    h1 { font-size: 1rem; margin: 0; }
    h2 { font-size: 1.1rem; margin: 0; }
    h3 { font-size: .95rem; margin: 1.2rem 0 .4rem; }
    .space { flex: 1; }
    #now { font-variant-numeric: tabular-nums; color: var(--faint); font-size: .85rem; }
    #now.moved { color: var(--warn); font-weight: 600; }
    nav { grid-area: nav; padding: .75rem .5rem; overflow-y: auto; border-right: 1px solid var(--line); }
    nav a {
      display: flex; justify-content: space-between; gap: .75rem; padding: .4rem .65rem; border-radius: .5rem;
      color: var(--text); text-decoration: none;
    }
    nav a:hover { background: var(--raised); }
    nav a[aria-current=page] { background: var(--accent); color: var(--accent-text); }
    nav .count { flex: none; font-size: .85rem; font-variant-numeric: tabular-nums; }
    main { grid-area: main; min-height: 0; overflow: auto; outline-offset: -2px; }
    .skip { position: absolute; left: -99rem; }
    .skip:focus { left: .5rem; top: .5rem; z-index: 9; background: var(--panel); padding: .5rem; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }

    button, input, select, textarea {
      font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line);
      border-radius: .45rem; padding: .3rem .6rem;
    }
    input, select, textarea { background: var(--back); min-width: 0; }
    textarea { width: 100%; font: .85rem/1.4 ui-monospace, Menlo, Consolas, monospace; }
    button { cursor: pointer; }
    button:hover { background: var(--raised); }
    button.plain { border: 0; padding: 0; background: none; text-align: left; }
    a.button { border: 1px solid var(--line); border-radius: .45rem; padding: .3rem .6rem; background: var(--panel); color: inherit; text-decoration: none; }
    a.button:hover { background: var(--raised); }
    button.primary { background: var(--accent); color: var(--accent-text); border-color: var(--accent); }
    button.danger { color: var(--bad); }
    button:disabled { opacity: .5; cursor: default; }
    code, .mono { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .85em; }
    .break { overflow-wrap: anywhere; }
    .token { display: inline-block; min-width: 32ch; font-size: .9rem; line-height: 1.35; }
    .token span { display: inline-block; }
    td code:not(.break, .token) { white-space: nowrap; }
    a { color: var(--accent); }
    ::placeholder { color: var(--faint); opacity: 1; }
    /* What is pressed is at least 24 pixels high and wide (WCAG 2.5.8). */
    .tree summary { min-height: 24px; line-height: 24px; }
    td a, button.plain, fieldset label, label.inline { display: inline-block; min-height: 24px; line-height: 24px; }
    input[type=checkbox] { width: 24px; height: 24px; margin: 0; vertical-align: middle; }
    .faint { color: var(--faint); }
    .small { font-size: .85rem; }
    .badge {
      display: inline-block; padding: 0 .5rem; border-radius: 1rem; font-size: .78rem; line-height: 1.4rem;
      background: var(--raised); white-space: nowrap;
    }
    .item .badge { justify-self: end; align-self: start; }
    .badge.good, .good { color: var(--good); } .badge.bad, .bad { color: var(--bad); }
    .badge.wait { color: var(--wait); } .badge.warn, .warn { color: var(--warn); }
    .live { font-size: .85rem; color: var(--warn); }
    .live.on { color: var(--good); }
    .live::before, .dot::before {
      content: ""; display: inline-block; width: .6rem; height: .6rem; border-radius: 50%;
      background: currentColor; margin-right: .35rem;
    }
    .dot { color: var(--faint); } .dot.on { color: var(--good); }

    .bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; padding: .6rem 1rem; }
    .bar input[type=search] { flex: 1 1 12rem; }
    .bar.filters input[type=search] { flex-basis: calc(100% - 5.5rem); }
    .bar.filters select { flex: 1 1 6.5rem; padding: .3rem 0 .3rem .3rem; font-size: .86rem; }
    .pane .bar { padding: .6rem 0; }
    .pane form.bar input { flex: 0 1 16rem; }
    .pane { padding: 0 1rem 2rem; max-width: 96rem; }
    .empty { padding: 3rem 1.5rem; text-align: center; color: var(--faint); max-width: 42rem; margin: auto; }
    .empty h2 { color: var(--text); margin-bottom: .5rem; }
    .empty pre { text-align: left; white-space: pre-wrap; overflow-wrap: anywhere; }
    .command { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .5rem; align-items: center; }
    .command p { grid-column: 1 / 3; margin: 0; }
    .empty form { text-align: left; justify-content: center; }
    pre {
      background: var(--raised); border-radius: .5rem; padding: .75rem; overflow: auto; margin: .5rem 0;
      font: .8rem/1.45 ui-monospace, Menlo, Consolas, monospace;
    }
    pre.break { white-space: pre-wrap; }
    .scroll { overflow-x: auto; }
    td .dot { white-space: nowrap; }
    table { border-collapse: collapse; width: 100%; background: var(--panel); }
    th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
    th { font-size: .8rem; color: var(--faint); font-weight: 600; white-space: nowrap; }
    tr.pick { cursor: pointer; } tr.pick:hover td { background: var(--raised); }
    tr.chosen td { background: var(--raised); }
    .card {
      background: var(--panel); border: 1px solid var(--line); border-radius: .75rem; padding: .9rem 1rem;
      margin: .75rem 0;
    }
    .row.tight { gap: .3rem; flex-wrap: nowrap; }
    td > .row:not(.tight):not(:empty) { gap: .3rem; min-width: 11.5rem; }
    .row.more { padding: .8rem 0; justify-content: center; }
    .row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
    dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1rem; margin: .5rem 0; }
    dl.facts dt { color: var(--faint); } dl.facts dd { margin: 0; overflow-wrap: anywhere; }

    .split { display: grid; grid-template-columns: minmax(18rem, 2fr) 3fr; height: 100%; min-height: 0; }
    .split > section { min-height: 0; display: flex; flex-direction: column; }
    .split > section:first-child { border-right: 1px solid var(--line); }
    #list { flex: 1; overflow-y: auto; position: relative; outline-offset: -2px; background: var(--panel); }
    #list .canvas { position: relative; }
    .item {
      position: absolute; left: 0; right: 0; height: 62px; padding: .45rem .9rem; cursor: pointer;
      border-bottom: 1px solid var(--line); display: grid; grid-template-columns: 1fr auto; gap: 0 .5rem;
    }
    .item:hover { background: var(--raised); }
    .item[aria-selected=true] { background: var(--raised); box-shadow: inset 3px 0 var(--accent); }
    .item .title { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-weight: 550; }
    .item .when { justify-self: end; white-space: nowrap; }
    .item .under { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    .split > #detail { overflow: auto; display: block; }
    .detail-head { padding: .8rem 1rem .4rem; display: grid; gap: .5rem; }
    [role=tablist] { display: flex; gap: .25rem; padding: 0 1rem; border-bottom: 1px solid var(--line); overflow-x: auto; }
    [role=tab] { border: 0; border-radius: .45rem .45rem 0 0; background: none; white-space: nowrap; }
    [role=tab][aria-selected=true] { box-shadow: inset 0 -2px var(--accent); font-weight: 600; }
    [role=tabpanel] { padding: 1rem; }

    .phone {
      max-width: 24rem; border-radius: 2rem; padding: 2.2rem .8rem 1.4rem; margin: .25rem auto;
      background: linear-gradient(160deg, #35528f, #6b4b8a 60%, #a4587a); color: #fff; min-height: 21rem;
    }
    .phone .time { text-align: center; font-size: 3.6rem; font-weight: 250; line-height: 1.1; }
    .phone .date { text-align: center; opacity: .9; margin-bottom: 1.4rem; }
    .note {
      background: rgba(245, 245, 250, .88); color: #111; border-radius: 1.1rem; padding: .7rem .8rem;
      display: grid; grid-template-columns: 2.3rem 1fr auto; gap: 0 .65rem;
    }
    .note .icon {
      grid-row: span 3; width: 2.3rem; height: 2.3rem; border-radius: .55rem; background: #1d4ed8; color: #fff;
      display: grid; place-items: center; font-weight: 700; position: relative;
    }
    .note .icon b {
      position: absolute; top: -.4rem; right: -.4rem; background: #e11d2e; border-radius: 1rem; font-size: .7rem;
      min-width: 1.2rem; text-align: center; padding: 0 .25rem;
    }
    .note .t { font-weight: 650; overflow-wrap: anywhere; } .note .w { color: #555; font-size: .8rem; }
    .note .s, .note .b { grid-column: 2 / 4; overflow-wrap: anywhere; white-space: pre-line; }
    .note .s { font-weight: 600; }
    ul.facts { margin: .8rem 0 0; padding-left: 1.2rem; }

    .tree { font: .85rem/1.5 ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
    .tree details { padding-left: 1rem; } .tree summary { margin-left: -1rem; cursor: pointer; }
    .tree div { padding-left: 1rem; }
    .tree .k { color: var(--accent); } .tree .str { color: var(--good); } .tree .num { color: var(--wait); }
    meter { width: 12rem; height: .9rem; vertical-align: middle; }
    .hex + .row { margin-top: .8rem; }
    .hex { font: .82rem/1.6 ui-monospace, Menlo, Consolas, monospace; overflow-x: auto; white-space: pre; }
    .hex .off { color: var(--faint); }
    .f1 { background: var(--f1); } .f2 { background: var(--f2); } .f3 { background: var(--f3); }
    .f4 { background: var(--f4); } .f5 { background: var(--f5); } .f6 { background: var(--f6); }
    .f7 { background: var(--f7); }
    .legend { display: flex; flex-wrap: wrap; gap: .35rem; margin: .6rem 0; }
    .legend span { padding: 0 .45rem; border-radius: .3rem; font-size: .82rem; }

    .way { display: flex; align-items: center; gap: .4rem; margin-bottom: 1rem; flex-wrap: wrap; }
    .way .hop { border: 2px solid var(--line); border-radius: .7rem; padding: .35rem .8rem; color: var(--faint); }
    .way .hop.on { border-color: var(--good); color: var(--text); }
    .way .hop.end { border-color: var(--bad); color: var(--text); }
    .way .arrow { color: var(--faint); } .way .arrow.on { color: var(--good); }
    ol.steps { list-style: none; margin: 0; padding: 0; }
    ol.steps li { display: grid; grid-template-columns: 8rem 8rem 1fr; gap: .5rem; padding: .3rem 0; }

    .derive { display: grid; gap: .9rem; padding-left: 1.2rem; margin: .6rem 0; }
    .derive li::marker { color: var(--faint); font-weight: 600; }
    .derive p { margin: 0 0 .4rem; }
    .derive .field { margin-bottom: .35rem; }
    .parts { display: grid; gap: .35rem; }
    .parts .field { display: grid; grid-template-columns: 9rem minmax(0, 1fr) minmax(0, 26rem); gap: .75rem; margin: 0; align-items: baseline; }
    .equation { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .8rem 0 .4rem; }
    .equation .field { display: grid; }
    .equation .out { display: flex; gap: .5rem; align-items: center; }
    .equation .result code { overflow-wrap: anywhere; }
    .changes { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; margin: .4rem 0 .8rem; }
    .changes dt { font-weight: 600; } .changes dd { margin: 0; }
    /* Read from the last row of a room: the digits grow with the window. */
    .presenting { grid-template: auto auto 1fr / minmax(0, 1fr); grid-template-areas: "head" "notices" "main"; }
    .presenting nav { display: none; }
    .present { display: flex; flex-direction: column; gap: clamp(.8rem, 2.6vh, 2rem); min-height: 100%; padding: clamp(.8rem, 2vw, 2.5rem); }
    .present h2 { font-size: clamp(1.2rem, 2vw, 2.2rem); overflow-wrap: anywhere; }
    .slides { display: grid; gap: clamp(.8rem, 1.6vw, 2rem); justify-items: stretch; flex: 1; align-content: center; }
    .slides.two { grid-template-columns: repeat(2, minmax(0, 1fr)); }
    .slide { background: var(--panel); border: 2px solid var(--line); border-radius: 1rem; padding: clamp(.8rem, 1.8vw, 2rem); container-type: inline-size; }
    .slide.new { border-color: var(--accent); }
    .slide h3 { margin: 0; font-size: clamp(1.1rem, 1.6vw, 1.8rem); }
    .slide .row { font-size: clamp(1rem, 1.2vw, 1.3rem); } .slide .badge { font-size: inherit; line-height: 1.6; }
    .digits {
      display: grid; grid-template-columns: repeat(2, max-content); justify-content: center; gap: .25em .75ch; margin-top: .5em;
      font-size: min(9.4cqi, 13vh); line-height: 1.15; font-weight: 600;
    }
    .slides:not(.two) .digits { grid-template-columns: repeat(4, max-content); font-size: min(4.7cqi, 13vh); }
    .slide.old .digits { color: var(--faint); }
    .inputs { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .6rem; }
    .input { display: grid; background: var(--panel); border: 1px solid var(--line); border-radius: .7rem; padding: .5rem .8rem; }
    .input strong { font-size: clamp(1.05rem, 1.5vw, 1.7rem); overflow-wrap: anywhere; }
    .input.changed { border: 2px solid var(--warn); }
    .moral { margin: 0; font-size: clamp(1rem, 1.35vw, 1.5rem); max-width: 70ch; }
    .presets { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .5rem; }
    .presets > div { display: flex; gap: .5rem; align-items: center; } .presets button { white-space: nowrap; } .presets small { color: var(--faint); }
    .message, .result { border: 1px solid var(--line); background: var(--back); }
    .message span { padding: .1rem 0; }
    .result { border-color: var(--accent); }
    .field { border-radius: .5rem; padding: .4rem .6rem; }
    /* Faint is faint on the plain background only. */
    .field .faint, .legend .faint, .hex [class^=f] { color: inherit; }
    .field.changed, .field.marked { box-shadow: inset 0 0 0 2px var(--warn); }
    form.grid { display: grid; grid-template-columns: 9rem minmax(0, 1fr); gap: .6rem 1rem; align-items: center; }
    form.grid .wide { grid-column: 1 / 3; }
    fieldset { border: 1px solid var(--line); border-radius: .6rem; margin: 0; padding: .4rem .8rem; }
    label.inline { margin-right: 1rem; white-space: nowrap; }

    dialog { background: var(--panel); color: var(--text); border: 1px solid var(--line); border-radius: .9rem; max-width: 32rem; }
    dialog::backdrop { background: rgba(0, 0, 0, .45); }
    #toasts { position: fixed; right: 1rem; bottom: 1rem; display: grid; gap: .5rem; z-index: 5; max-width: 26rem; }
    .toast { background: var(--text); color: var(--back); border-radius: .6rem; padding: .6rem .9rem; }
    kbd { border: 1px solid var(--line); border-radius: .3rem; padding: 0 .35rem; background: var(--raised); }
    .only-narrow { display: none; }

    @media (max-width: 52rem) {
      body { grid-template: auto auto auto 1fr / minmax(0, 1fr); grid-template-areas: "head" "notices" "nav" "main"; }
      header { flex-wrap: wrap; gap: .5rem; padding: .4rem .7rem; }
      header button { padding: .15rem .45rem; font-size: .85rem; }
      h1 { font-size: .9rem; }
      /* Two lines: what and how it is; the clock and what can be done. */
      header::after { content: ""; order: 1; flex-basis: 100%; }
      header > :is(#now, a, button) { order: 2; }
      #now { flex: 1; } header .space { display: none; }
      nav, [role=tablist] { scrollbar-width: none; }
      nav { display: flex; overflow-x: auto; padding: .3rem .4rem; border: 0; border-bottom: 1px solid var(--line); }
      nav a { gap: .4rem; white-space: nowrap; }
      .split { grid-template-columns: minmax(0, 1fr); }
      .presenting { grid-template: auto auto 1fr / minmax(0, 1fr); grid-template-areas: "head" "notices" "main"; }
      .slides.two { grid-template-columns: minmax(0, 1fr); }
      .slides:not(.two) .digits { grid-template-columns: repeat(2, max-content); font-size: 9.4cqi; }
      [role=tab] { padding: .3rem .5rem; }
      [role=tablist] { padding: 0 .5rem; }
      thead { display: none; }
      table { background: none; }
      tbody tr { display: block; background: var(--panel); border: 1px solid var(--line); border-radius: .6rem; margin-bottom: .6rem; padding: .25rem 0; }
      td { display: flex; gap: .75rem; border: 0; padding: .2rem .7rem; overflow-wrap: anywhere; }
      td[data-label]::before { content: attr(data-label); flex: 0 0 6.5rem; color: var(--faint); font-size: .85rem; }
      td > .row:not(.tight):not(:empty) { min-width: 0; }
      tr.chosen td { background: none; } tr.chosen { border-color: var(--accent); }
      .token { min-width: 0; font-size: .85rem; }
      .split > section:first-child { border: 0; }
      .split:not(.open) > #detail { display: none; }
      #help { display: none; }
      .split.open > section:first-child { display: none; }
      .only-narrow { display: inline-block; }
      .detail-head button { padding: .25rem .45rem; font-size: .88rem; }
      .pane { padding: 0 .7rem 2rem; }
      form.grid { grid-template-columns: minmax(0, 1fr); gap: .25rem; }
      .parts .field { grid-template-columns: minmax(0, 1fr); gap: .1rem; }
      .changes { grid-template-columns: minmax(0, 1fr); } .changes dd { margin-bottom: .4rem; }
      form.grid .wide { grid-column: 1; }
      ol.steps li { grid-template-columns: 7.5rem 1fr; } ol.steps li > :last-child { grid-column: 1 / 3; }
    }
    @media (prefers-reduced-motion: no-preference) {
      .item.new { animation: arrive 1.2s ease-out; }
      @keyframes arrive { from { background: var(--f1); } }
    }
    """#
}
