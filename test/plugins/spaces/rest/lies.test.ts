// Why: the responses of a provider over REST are untrusted. Only well-formed ones count, they harm no other part, and only an explicit
// response means that a space is gone.
import {
  namespaceOf,
  type ProviderCall,
  type RestProviderOptions,
  restProvider,
  Space,
  type SpaceProvider,
} from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { conditionOf, isReady, Management, messageOf } from "../support/management.ts";
import { body, gone, json, Liar, statusOf, stream } from "./support/liar.ts";

const TOKEN = "managers-token";
const READY = { name: "a", phase: "Ready" };
const LIST = "GET /v1/spaces?limit";
const WATCH = "GET /v1/spaces?watch";
const NONE = { create: false, delete: false, watch: false, hierarchy: false };
const call = (): ProviderCall => ({ parent: undefined, signal: new AbortController().signal });

describe("provider over REST with invalid responses", function () {
  this.timeout(30_000);
  let liar: Liar;
  let provider: SpaceProvider & Partial<AsyncDisposable>;
  const opened = async (options: RestProviderOptions = {}) =>
    restProvider(options).open({
      name: "here",
      secret: { url: liar.url, token: TOKEN },
      log: () => undefined,
      signal: new AbortController().signal,
    });

  before(async () => {
    liar = await Liar.start();
  });
  after(() => liar[Symbol.asyncDispose]());
  beforeEach(async () => {
    liar.says = {};
    liar.asked.length = 0;
    provider = await opened();
  });
  afterEach(() => provider[Symbol.asyncDispose]?.());

  /** Returns the result of a call as text. */
  const told = (asking: Promise<unknown>): Promise<string> =>
    asking.then(
      (value) => `it has answered ${JSON.stringify(value)}`,
      (error: Error) => error.message,
    );
  const heard = async (by = provider): Promise<string> => {
    const names: string[] = [];
    const listening = async () => {
      for await (const { name = "any" } of by.watch?.(call()) ?? []) names.push(name);
    };
    return told(listening().then(() => names));
  };

  const LISTS = {
    "of another type": [
      body("text/html", "<html>hello</html>"),
      /"text\/html" instead of application\/json: check that url/,
    ],
    "of no type": [body("", "{}"), /"no content type" instead of application\/json/],
    "that is not JSON": [
      body("application/json", "{items"),
      /the response is not a valid SpaceList: it is not a JSON object/,
    ],
    "without items": [json({}), /not a valid SpaceList: items: Required value/],
    "with a space without a phase": [json({ items: [{ name: "a" }] }), /items\[0\]\.phase: Required value/],
    "with a space of an unknown phase": [
      json({ items: [{ name: "a", phase: "Big" }] }),
      /items\[0\]\.phase: Unsupported value: "Big"/,
    ],
    "with a name that would be another path": [
      json({ items: [{ name: "a/../b", phase: "Ready" }] }),
      /items\[0\]\.name: Invalid/,
    ],
    "with an invalid id": [json({ items: [{ ...READY, id: 7 }] }), /items\[0\]\.id: Invalid value: "integer"/],
    "with two spaces of one name": [
      json({ items: [READY, READY] }),
      /^the provider returned two spaces with the name "a"$/,
    ],
    "in another order": [json({ items: [{ ...READY, name: "b" }, READY] }), /^the provider listed "a" after "b"/],
    "with an empty page and a continue token": [
      json({ items: [], continue: "x" }),
      /returned an empty page with a continue token/,
    ],
    "with a repeated page": [
      json({ items: [READY], continue: "x" }),
      /^the provider returned two spaces with the name "a"$/,
    ],
    "that is too long": [
      json({ items: [{ ...READY, message: "a".repeat(17 * 1024 * 1024) }] }),
      /the answer is longer than 16777216 bytes$/,
    ],
    "of an error page": [
      body("text/html", "<html>secret of somebody else</html>", 502),
      /: 502 without a Status: check that url/,
    ],
    "of a Status of another code": [json(statusOf(404, "no"), 500), /: 500 without a Status/],
    "of an unexpected status code": [json({ items: [] }, 206), /: unexpected status 206 instead of 200$/],
  } as const;
  for (const [what, [says, message]] of Object.entries(LISTS))
    it(`rejects a list ${what}`, async () => {
      liar.says = { [LIST]: says };
      const said = await told(provider.list(call()));
      expect(said).to.match(message);
      expect(said).not.to.include("somebody else");
    });

  it("rejects responses that never start or never end", async () => {
    await using hasty = (await opened({ timeout: 500 })) as SpaceProvider & AsyncDisposable;
    liar.says = { [LIST]: () => undefined };
    expect(await told(hasty.list(call()))).to.match(/no complete response within 0\.5 s$/);
    liar.says = {
      [LIST]: (res) => {
        res.writeHead(200, { "content-type": "application/json" });
        const timer = setInterval(() => res.write(" "), 20);
        res.once("close", () => clearInterval(timer));
      },
    };
    expect(await told(hasty.list(call()))).to.match(/no complete response within 0\.5 s$/);
    expect(
      await told(provider.get("a", { parent: undefined, signal: AbortSignal.abort(new Error("enough")) })),
    ).to.equal("enough");
  });

  it("rejects redirects and sends no request to their target", async () => {
    await using elsewhere = await Liar.start();
    liar.says = {
      "": (res) => res.writeHead(307, { location: `${elsewhere.url}/v1/spaces` }).end(),
    };
    const message = /: 307 redirect is not followed: set url to its target$/;
    expect(await told(provider.list(call()))).to.match(message);
    expect(await told(Promise.resolve(provider.delete?.("a", call())))).to.match(message);
    expect(await heard()).to.match(message);
    expect(elsewhere.asked).to.deep.equal([]);
  });

  it("rejects a response about another space, and treats only a 404 about the space as gone", async () => {
    liar.says = { "GET /v1/spaces/a": json({ name: "b", phase: "Ready" }) };
    expect(await told(provider.get("a", call()))).to.match(/returned the space "b" for "a"$/);
    for (const says of [
      body("text/html", "<html>404</html>", 404),
      json({}, 404),
      json(statusOf(404, "the server could not find the requested resource"), 404),
      json(statusOf(404, 'spaces "b" not found', { kind: "spaces", name: "b" }), 404),
      json(statusOf(404, 'workspaces "a" not found', { kind: "workspaces", name: "a" }), 404),
    ]) {
      liar.says = { "": says };
      expect(await told(provider.get("a", call()))).to.match(/: 404 /);
      expect(await told(Promise.resolve(provider.delete?.("a", call())))).to.match(/: 404 /);
    }
    liar.says = { "": gone("a") };
    expect(await provider.get("a", call())).to.equal(undefined);
    await provider.delete?.("a", call());
    liar.asked.length = 0;
    for (const name of ["..", "a/b", "", "a?b", ".a", "a#"])
      expect(await told(provider.get(name, call()))).to.match(/^invalid space name /);
    expect(liar.asked).to.deep.equal([]);
  });

  it("rejects responses other than 202 to a creation or deletion", async () => {
    for (const [says, message] of [
      [json({}, 200), /: unexpected status 200 instead of 202$/],
      [body("text/html", "<html>", 200), /: unexpected status 200 instead of 202$/],
      [json(statusOf(409, "it is being deleted"), 409), /: 409 it is being deleted$/],
    ] as const) {
      liar.says = { "PUT /v1/spaces/a": says, "DELETE /v1/spaces/a": says };
      expect(await told(Promise.resolve(provider.create?.("a", call())))).to.match(message);
      expect(await told(Promise.resolve(provider.delete?.("a", call())))).to.match(message);
    }
  });

  it("rejects kubeconfigs that are too long or of another type", async () => {
    const kubeconfig = "GET /v1/spaces/a/kubeconfig";
    liar.says = { [kubeconfig]: body("application/yaml", "a".repeat(257 * 1024)) };
    expect(await told(provider.access("a", call()))).to.match(/longer than 262144 bytes$/);
    liar.says = { [kubeconfig]: body("text/html", "<html>") };
    expect(await told(provider.access("a", call()))).to.match(/"text\/html" instead of application\/yaml/);
    liar.says = { [kubeconfig]: gone("a") };
    expect(await told(provider.access("a", call()))).to.match(/: 404 spaces "a" not found$/);
  });

  it("rejects a list whose pages expire again and again", async () => {
    let asked = 0;
    liar.says = {
      [`${LIST}=500&continue`]: (res) => {
        asked += 1;
        if (asked < 3) json(statusOf(410, "the page is too old"), 410)(res);
        else json({ items: [{ ...READY, name: "b" }] })(res);
      },
      [LIST]: json({ items: [READY], continue: "x" }),
    };
    expect(await told(provider.list(call()))).to.match(/has answered \[.*"a".*"b"/);
    expect(liar.asked.filter((one) => one.startsWith(LIST))).to.have.length(6);
    asked = Number.NEGATIVE_INFINITY;
    expect(await told(provider.list(call()))).to.match(/: 410 the page is too old$/);
    liar.says = { [LIST]: json(statusOf(410, "the page is too old"), 410) };
    expect(await told(provider.list(call()))).to.match(/: 410 /);
  });

  it("rejects a watch that is invalid or ends", async () => {
    for (const [says, message] of [
      [body("text/html", "<html>"), /"text\/html" instead of application\/x-ndjson/],
      [json({ items: [] }), /"application\/json" instead of application\/x-ndjson/],
      [json(statusOf(501, "it does not say what changes"), 501), /: 501 it does not say what changes$/],
      [stream("hello\n"), /^invalid event in the watch: it is not a JSON object$/],
      [stream('{"type":"ADDED"}\n'), /^invalid event in the watch: type: Unsupported value: "ADDED"/],
      [stream('{"type":"CHANGED","name":"../a"}\n'), /^invalid event in the watch: name: Invalid/],
      [stream("a".repeat(17 * 1024)), /a line of the body is longer than 16384 bytes$/],
      [stream('{"type":"ERROR","status":{"code":500}}\n'), /^invalid event in the watch: status/],
      [
        stream(`${JSON.stringify({ type: "ERROR", status: statusOf(500, "it has\u001b[2J\nlost it") })}\n`),
        /^the watch has ended: it has \[2J lost it$/,
      ],
    ] as const) {
      liar.says = { [WATCH]: says };
      expect(await heard()).to.match(message);
    }
    liar.says = { [WATCH]: stream('{"type":"BOOKMARK"}\n') };
    await using hasty = (await opened({ silence: 200 })) as SpaceProvider & AsyncDisposable;
    expect(await heard(hasty)).to.match(/no more of the answer within 200 ms$/);
    liar.says = {
      [WATCH]: (res) => {
        stream('{"type":"BOOKMARK"}\n')(res);
        setImmediate(() => res.destroy());
      },
    };
    expect(await heard()).to.match(/^GET http:\/\/127\.0\.0\.1:\d+\/v1\/spaces: /);
    liar.says = {
      [WATCH]: body("application/x-ndjson", '{"type":"BOOKMARK"}\n{"type":"CHANGED","name":"a"}\n{"type"'),
    };
    expect(await heard()).to.equal('it has answered ["any","a"]');
  });

  it("retries after 429", async () => {
    liar.says = {
      "PUT /v1/spaces/a": (res) => {
        res.setHeader("retry-after", "3");
        json(statusOf(429, "ten are being made"), 429)(res);
      },
    };
    const error = await Promise.resolve(provider.create?.("a", call())).catch((failed: unknown) => failed);
    expect(error).to.include({ retryAfter: 3000 });
  });

  it("rejects an invalid status", async () => {
    await provider[Symbol.asyncDispose]?.();
    for (const [says, message] of [
      [json({ ready: true, version: "1" }), /not a valid ProviderStatus: capabilities: Required value/],
      [json({ ready: "yes", version: "1", capabilities: {} }), /not a valid ProviderStatus: /],
      [body("text/html", "<html>"), /"text\/html" instead of/],
      [
        json({ ready: false, message: "not\u001b\nyet", version: "1", capabilities: NONE }),
        /^the provider is not ready: not yet$/,
      ],
      [body("application/json", JSON.stringify("a".repeat(65 * 1024))), /longer than 65536 bytes/],
    ] as const) {
      liar.says = { "GET /v1/status": says };
      expect(await told(opened())).to.match(message);
    }
  });

  describe("for a manager", () => {
    let management: Management;
    const HERE = namespaceOf("here");
    before(async () => {
      management = await Management.start();
    });
    after(() => management?.[Symbol.asyncDispose]());

    it("shows them in conditions, and leaves its Spaces unchanged", async () => {
      const types = { rest: restProvider() };
      await using manager = management.manager({ types });
      await manager.started;
      const honest = {
        "GET /v1/spaces/a/kubeconfig": body("application/yaml", "# how to reach it"),
        "GET /v1/spaces/a": json(READY),
        [LIST]: json({ items: [READY] }),
      };
      const cuts = Promise.withResolvers<() => void>();
      liar.says = {
        ...honest,
        [WATCH]: (res) => {
          stream('{"type":"BOOKMARK"}\n')(res);
          cuts.resolve(() => res.destroy());
        },
      };
      await management.provide("here", { type: "rest", secret: { url: liar.url, token: TOKEN } });
      const found = await management.until(HERE, "a", isReady);
      const untilTold = (message: RegExp) =>
        management.untilProvider("here", (one) => message.test(messageOf(one, "Ready")));
      // The manager then reads the space: the list fails, and a proxy answers the read by name.
      liar.says = {
        "GET /v1/spaces/a": body("text/html", "<html>", 404),
        [LIST]: json(statusOf(500, "it has lost its list"), 500),
      };
      (await cuts.promise)();
      await untilTold(/: 500 it has lost its list$/);
      const lies = [
        [json({ items: [READY, READY] }), /^the provider returned two spaces with the name "a"$/],
        [json({ items: [{ name: "a" }] }), /items\[0\]\.phase: Required value/],
      ] as const;
      for (const [says, message] of lies) {
        liar.says = { [LIST]: says };
        await untilTold(message);
      }
      // The list omits the space, while no response says that it does not exist.
      liar.says = { [LIST]: json({ items: [] }), "GET /v1/spaces/a": body("text/html", "<html>", 404) };
      await management.untilProvider("here", (one) => one?.status?.spaces === 0);
      liar.says = honest;
      await management.untilProvider("here", (one) => one?.status?.spaces === 1);
      const space = await management.client.resource(Space).in(HERE).get("a");
      expect(space.metadata.uid).to.equal(found?.metadata.uid);
      expect(conditionOf(space, "Ready")).to.equal("True");
      await management.removeProvider("here");
    });
  });
});
