import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { type Answer, answering, note, status } from "../answers.ts";
import { apiError, transportError } from "../thrown.ts";

const once = { retries: false } as const;

describe("an error response", () => {
  it("becomes the server's own Status", async () => {
    const details = {
      name: "a",
      kind: "notes",
      causes: [{ reason: "FieldValueInvalid", message: "m", field: "spec" }],
      uid: "u",
    };
    await using at = await answering([status(422, { reason: "Invalid", details, metadata: { x: "y" } })], once);
    const error = await apiError(at.notes.get("a"));
    expect(error.status).to.deep.equal({
      kind: "Status",
      apiVersion: "v1",
      metadata: { x: "y" },
      status: "Failure",
      message: "told 422",
      code: 422,
      reason: "Invalid",
      details,
    });
  });

  const page = "<html>\u001b[31m<b>Bad Gateway</b>\n</html>";
  const others: Readonly<Record<string, readonly [Answer, RegExp]>> = {
    "a proxy's page": [
      { code: 502, body: page, headers: { "Content-Type": "text/html" } },
      /answered 502 without a Status: <html> \[31m<b>Bad Gateway<\/b> <\/html>$/,
    ],
    "an empty body": [{ code: 500, body: "" }, /answered 500 without a Status$/],
    "invalid gzip": [
      { code: 503, body: "garbage", headers: { "Content-Encoding": "gzip" } },
      /answered 503 without a Status$/,
    ],
    "a body above the limit": [{ code: 500, body: "x".repeat(2 ** 21) }, /answered 500 without a Status$/],
    "a bomb": [
      { code: 500, body: gzipSync(Buffer.alloc(2 ** 25)), headers: { "Content-Encoding": "gzip" } },
      /answered 500 without a Status$/,
    ],
    "an object of another kind": [
      { code: 404, body: '{"message":"no"}' },
      /answered 404 without a Status: \{"message":"no"\}$/,
    ],
    "a redirect": [
      { code: 302, body: "", headers: { Location: "http://elsewhere/" } },
      /answered 302 without a Status$/,
    ],
  };
  for (const [name, [answer, message]] of Object.entries(others)) {
    it(`becomes an error with its code: ${name}`, async () => {
      await using at = await answering([answer], once);
      const error = await apiError(at.notes.get("a"));
      expect(error.code).to.equal(answer.code);
      expect(error.message)
        .to.match(message)
        .and.match(/^GET http:\/\/127.0.0.1:\d+\/apis\/test.dev\/v1\/notes\/a: /);
      expect((await apiError(at.notes.watch().next())).code).to.equal(answer.code);
    });
  }

  it("has Retry-After in its details, from seconds or a date", async () => {
    const date = (ms: number): string => new Date(Date.now() + ms).toUTCString();
    const nothing = ["", "-1", "soon", "1.5", "1e3"];
    const headers = ["7", date(60_000), date(-60_000), ...nothing];
    const answers = headers.map((text) => ({ ...status(429), headers: { "Retry-After": text } }));
    await using at = await answering([...answers, status(429)], once);
    const told = async (): Promise<number | undefined> =>
      (await apiError(at.notes.get("a"))).status.details?.retryAfterSeconds;
    expect(await told()).to.equal(7);
    expect(await told()).to.be.within(58, 61);
    expect(await told()).to.equal(0);
    for (const text of [...nothing, "none"]) expect(await told(), text).to.equal(undefined);
  });

  it("does not show the query in its message", async () => {
    await using at = await answering([{ code: 500, body: "" }], once);
    expect((await apiError(at.notes.list({ labels: "secret=x" }))).message).to.not.include("secret");
  });
});

describe("an invalid successful response", () => {
  const wrong: Readonly<Record<string, readonly [string, RegExp]>> = {
    "no JSON": [
      "<html>",
      /the response is not a JSON object but application\/json: check that the URL is that of an API server/,
    ],
    "no object": ["[]", /not a JSON object/],
    "an empty body": ["", /not a JSON object/],
    "another kind": ['{"kind":"Other","metadata":{}}', /the response is "Other" instead of Note$/],
    "no kind": ["{}", /the response is of no kind instead of Note$/],
    "no metadata": ['{"kind":"Note"}', /instead of Note$/],
  };
  for (const [name, [body, message]] of Object.entries(wrong))
    it(`is malformed: ${name}`, async () => {
      await using at = await answering([{ body }], once);
      const error = await transportError(at.notes.get("a"));
      expect([error.code, error.message]).to.satisfy(
        ([code, text]: string[]) => code === "malformed" && message.test(text ?? ""),
      );
      expect((await transportError(at.notes.list())).code).to.equal("malformed");
    });

  it("is malformed if a list is an object, or an item is none", async () => {
    await using at = await answering(
      [{ body: note("a") }, { body: '{"kind":"NoteList","items":[1]}' }, { body: '{"kind":"NoteList","items":null}' }],
      once,
    );
    expect((await transportError(at.notes.list())).message).to.include('"Note" instead of a list of Note');
    expect((await transportError(at.notes.list())).message).to.include("an item of the list is not an object");
    expect((await at.notes.list()).items).to.deep.equal([]);
  });
});

describe("compression", () => {
  it("is requested and decoded", async () => {
    await using at = await answering([{ body: gzipSync(note("packed")), headers: { "Content-Encoding": "gzip" } }]);
    expect((await at.notes.get("packed")).metadata.name).to.equal("packed");
    expect(at.asked[0]?.headers["accept-encoding"]).to.equal("gzip");
  });

  it("fails with `malformed` for an unexpected or invalid encoding", async () => {
    await using at = await answering([
      { headers: { "Content-Encoding": "br" } },
      { headers: { "Content-Encoding": "gzip" } },
    ]);
    expect((await transportError(at.notes.get("a"))).message).to.include('content encoding "br"');
    expect((await transportError(at.notes.get("a"))).message).to.include("the response is not valid gzip");
  });
});

describe("warnings", () => {
  it("are reported once each, also across derived clients", async () => {
    const told: string[] = [];
    const warning = ['299 - "old, \\"v1\\"", 299 kube "second"', '110 - "stale"', '299 - "third é"'].map((text) =>
      Buffer.from(text).toString("latin1"),
    );
    await using at = await answering([{ headers: { Warning: warning } }], { onWarning: (text) => told.push(text) });
    await at.notes.get("a");
    await at.notes.get("a");
    await at.client.as({ name: "ann" }).resource(at.notes.kind).get("a");
    expect(told).to.deep.equal(['old, "v1"', "second", "third é"]);
  });

  it("fail no request or watch if the callback throws", async () => {
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    const uncaught: unknown[] = [];
    process.on("uncaughtException", (error) => uncaught.push(error.message));
    try {
      const onWarning = (text: string): never => {
        throw new Error(`thrown at ${text}`);
      };
      const Warning = ['299 - "one"', '299 - "two"'];
      await using at = await answering([{ headers: { Warning } }], { onWarning });
      expect((await at.notes.create({ metadata: { name: "a" }, spec: {} })).metadata.name).to.equal("a");
      await using other = await answering([{ headers: { Warning }, body: "" }], { onWarning });
      expect(await other.notes.watch().next()).to.deep.equal({ done: true, value: undefined });
      expect(other.client.upstream.stats.active).to.equal(0);
      expect(uncaught).to.deep.equal([1, 2].flatMap(() => ["thrown at one", "thrown at two"]));
    } finally {
      process.removeAllListeners("uncaughtException");
      for (const other of others) process.on("uncaughtException", other);
    }
  });
});

describe("impersonation", () => {
  it("is in every request, with keys encoded as Kubernetes reads them", async () => {
    await using at = await answering([{}]);
    const extra = { "example.com/a (b)": ["x", "y"] };
    await at.client
      .as({ name: "ann", uid: "7", groups: ["g", "h"], extra })
      .resource(at.notes.kind)
      .get("a");
    await at.notes.get("a");
    expect(at.asked[0]?.headers).to.include({
      "impersonate-user": "ann",
      "impersonate-uid": "7",
      "impersonate-group": "g, h",
      "impersonate-extra-example.com%2fa%20%28b%29": "x, y",
    });
    expect(at.asked[1]?.headers).to.not.have.property("impersonate-user");
  });

  it("is rejected for names that a header would turn into ourselves or another user", async () => {
    await using at = await answering([{}]);
    const refused = [
      { name: "" },
      { name: " " },
      { name: "ann " },
      { name: "ann", groups: ["\tg"] },
      { name: "a\r\nb" },
    ];
    for (const identity of [...refused, { name: "ann", uid: " 7" }, { name: "ann", groups: [""] }])
      expect(() => at.client.as(identity), JSON.stringify(identity)).to.throw(
        /^invalid impersonate\.\w+ ".*": use a non-empty text/,
      );
    await at.client.as({ name: "änn o'x" }).resource(at.notes.kind).get("a");
    expect(Buffer.from(String(at.asked[0]?.headers["impersonate-user"]), "latin1").toString()).to.equal("änn o'x");
  });
});
