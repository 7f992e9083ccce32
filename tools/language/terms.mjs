// Why: the glossary of docs/explanation/how-we-write.md, as patterns. A word is listed where it is wrong in every sense that this repository has for it;
// one that is normal English elsewhere ("pass on Linux", "connection refused") is listed with the context that makes it wrong.

/** @typedef {{ pattern: RegExp, use: string, why?: string }} Term */

/** @param {RegExp} pattern @param {string} use @param {string} [why] @returns {Term} */
const term = (pattern, use, why) => ({ pattern, use, why });

/** @type {Term[]} */
export const TERMS = [
  // Who sends a request.
  term(/\bwho(ever)? (is )?ask(s|ed|ing)?\b/i, 'use "caller", "user" or "client"'),
  term(
    /\b(somebody|anybody|everybody|nobody|(?<!Security: )whoever|whomever)('s)?\b/i,
    'name the party: "a user", "no client", "every caller"',
  ),
  term(/\bwho (we|they|he|she|it) (is|are)\b(?! for\b)/i, 'use "identity", "user" or "client certificate"'),
  term(/\bstrangers?\b/i, 'use "unauthenticated client" or "rate limit"'),
  term(/\bby whom\b/i, 'use "owner" or "field manager", or name the subject'),
  // What becomes of a request.
  term(
    /\b(?<!connections? (?:is |are |was |were |being )?)(refus(e|es|ed|ing|als?))\b(?! (the |its |new |all |every |further |any )?connections?\b)/i,
    'use "reject", "deny" or "forbid" (403)',
  ),
  term(/\bsay(s|ing)? no\b|\bsaid no\b/i, 'use "reject", "deny" or "fail"'),
  term(
    /\b(let|lets|letting) (\w+ )?in\b(?!-)(?=\s*($|[.,;:)]|(by|as|with|to|without|if|when|who|that|and|or|but)\b))/i,
    'use "authenticate" or "authorize"',
  ),
  term(/\bknows nobody\b/i, 'use "authenticates no one"'),
  term(
    /\bpass(es|ed|ing)? (it |them |this |that |these |those |requests? |one |ones )?on\b(?=\s*($|[.,;:)]|(to|as|what|the (request|call|header|token|watch|event|error|answer|response)|it|them|every(thing)?|unchanged|with|by|without|and|or|but|whole|requests?)\b))(?! to the next\b)/i,
    'use "forward" or "proxy"',
  ),
  term(
    /\bpassed on\b(?! (the (command|first)|Node|Linux|macOS|Windows|a|every|each|all)\b)/i,
    'use "forward" or "proxy"',
  ),
  term(/\b(hand|send)(s|ed|ing)? (it |them )?on\b(?= (to|as|unchanged)\b|[.,;])/i, 'use "forward" or "proxy"'),
  term(/\bhanded on\b/i, 'use "forward" or "pass"'),
  term(
    /\bservers? behind\b(?=\s*($|[.,;:)]|(it|them|us|is|are|was|were|may|can|must|gets?|has|have|that|which|who|and|or|does|do|answers?)\b))/i,
    'use "upstream" or "target"',
  ),
  term(
    /\b(is|are|was|were|be|been|being|get|gets|got) asked\b(?! to\b)/i,
    'name the subject: "the server requests…", "the client calls…"',
  ),
  term(/\bask(s|ed|ing)? (of|for) by\b|\basked of\b/i, 'use "requested from"'),
  term(/\b(take|takes|took|taken|taking) off\b/i, 'use "strip" or "remove"'),
  // Watches and informers.
  term(/\btold\b/i, 'use "event", "notification", "advertised" or "receives"', '"told" hides who sends what'),
  term(/\b(tell|tells|telling) of\b/i, 'use "advertise" (discovery) or "report"'),
  term(/\bwhat (it|they|he|she|that|this) (says?|said)\b/i, 'use "message", "reason" or "condition"'),
  term(
    /\bas (it|they) (came|stood)\b|\bpass(es|ed)? as (it|they) comes?\b/i,
    'use "unchanged", "bytes" or "encoded object"',
  ),
  term(/\bwhat else\b/i, 'use "default" or name the others'),
  term(/\bwhat (there is|is there|there was|is not there)\b/i, "name the thing"),
  // Retries and lifetimes.
  term(
    /\b(a|the|long|longer|short|shorter|first|next|last|each|every|of|these|those) spells?\b/i,
    'use "backoff" or "delay"',
  ),
  term(
    /\b(second|third|of|between|more|further|no|many|\d+|two|three|four|five|all|few|fewer|its|their|these|those|such|failed|after) tries\b/i,
    'use "retry" or "attempt"',
  ),
  term(/\bto (its|their|his|an) ends?\b/i, 'use "graceful shutdown", "drain" or "completes"'),
  term(/\bcom(e|es|ing) to (an|its|their) ends?\b/i, 'use "stop", "complete" or "graceful shutdown"'),
  term(/\b(that|which) (is|are) over\b/i, 'use "has expired", "has ended" or "has completed"'),
  term(/\bserv(e|es|ed|ing) on (for|until|while|as)\b/i, 'use "keep serving"'),
  term(/\bfor so long\b|\bso long as\b/i, 'use "for this long" or "while"'),
  // Words of our own.
  term(/\bkeepers?\b/i, 'use "backend"'),
  term(/\bheed(s|ed|ing)?\b/i, 'use "controller", "reads" or "takes into account"'),
  term(
    /\b(its|their|both|these|those|two|whose) questions\b|\b(a|the|each|every|first|second|this|that) question (is|was|goes|went|ends|of|to|about|that)\b/i,
    'use "request", "query" or "call"',
  ),
  term(
    /\bof (before|old|start)\b(?=\s*($|[.,;:)]|(are|is|was|were|that|which|and|or|in|have|has|may|can)\b))/i,
    'use "earlier", "previous" or "existing"',
  ),
  term(/\bof a single one\b|\bthe lesser\b/i, 'use "the smaller" or "the first by name"'),
  term(/\bone (word|more) too many\b|\bis one too many\b/i, 'use "unexpected argument" or "exceeds the limit"'),
  term(/\b(is|are) not to be\b(?! \w+ed with\b)/i, 'use "must not be" or the active voice'),
  term(/\banew\b/i, 'use "again"'),
  term(/\b(whence|thence|hither|thither|thereof|wherein|whereof|lest|whilst|amongst)\b/i, "use plain English"),
];

/** Names of products, each as its makers write it; keys are every other spelling, in lower case. */
export const PRODUCTS = new Map(
  Object.entries({
    Kubernetes: ["kubernetes", "k8s"],
    kubectl: ["kubectl", "kube-ctl"],
    kcp: ["kcp"],
    TypeScript: ["typescript", "type script"],
    JavaScript: ["javascript", "java script"],
    "Node.js": ["nodejs", "node.js"],
    etcd: ["etcd"],
    Prometheus: ["prometheus"],
    OpenTelemetry: ["opentelemetry", "open telemetry"],
    npm: ["npm"],
    npx: ["npx"],
    GitHub: ["github", "git hub"],
    macOS: ["macos", "mac os", "osx", "os x"],
    JSON: ["json"],
    YAML: ["yaml"],
    "plain HTTP": ["plain http"],
    "over HTTP": ["over http"],
    "HTTP/2": ["http2"],
    TLS: ["tls"],
    mTLS: ["mtls"],
    URL: ["url"],
    URLs: ["urls"],
    API: ["api"],
    APIs: ["apis"],
    CRD: ["crd"],
    CRDs: ["crds"],
    CEL: ["cel"],
    JWT: ["jwt"],
    OIDC: ["oidc"],
    RBAC: ["rbac"],
    gRPC: ["grpc"],
    OpenAPI: ["openapi", "open api"],
    WebSocket: ["websocket", "web socket"],
    WebSockets: ["websockets", "web sockets"],
    PostgreSQL: ["postgresql", "postgres"],
    SQLite: ["sqlite"],
    Grafana: ["grafana"],
    nginx: ["nginx"],
    Envoy: ["envoy"],
    Helm: ["helm"],
    Docker: ["docker"],
    Linux: ["linux"],
    Debian: ["debian"],
    Mermaid: ["mermaid"],
    Mocha: ["mocha"],
    VitePress: ["vitepress"],
    undici: ["undici"],
    LMDB: ["lmdb"],
  }).flatMap(([name, spellings]) => spellings.map((spelling) => /** @type {const} */ ([spelling, name]))),
);

/** Openings that leave the reader without a subject. */
export const WEASEL =
  /^\s*(what(ever)?|who(m|se|ever)?|which(ever)?|that|those|these|they|it|its|he|she|nobody|somebody|anybody|everybody|no one|someone|something|nothing|one that|this (is|was|does|one))\b(?!-)/i;
