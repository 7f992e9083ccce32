// The operator of an upstream may send any response. None becomes a header or code of ours, counts as success, or ends the
// process.
import { forward } from "@virtual-workspaces/forwarding";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";
import { until } from "../_support/until.ts";
import { misbehaving } from "./misbehaving.ts";
import { MEMOS, Memo, type MemoContent } from "./upstream.ts";

const HEADERS = {
  "Content-Type": "application/json",
  Location: "http://elsewhere.example/",
  "Set-Cookie": "session=theirs",
  "WWW-Authenticate": "Basic",
  "Proxy-Authenticate": "Basic",
  "X-Theirs": "1",
};
const PATH = `${MEMOS}/namespaces/a/memos`;
const MEMO = { apiVersion: "test.dev/v1", kind: "Memo", metadata: { name: "x", namespace: "a" }, spec: {} };
const MERGE = { "content-type": "application/merge-patch+json" };
type Call = readonly [call: `${string} /${string}`, body?: object, headers?: Record<string, string>];
const READS: readonly Call[] = [[`GET ${PATH}/x`], [`GET ${PATH}`], [`GET ${PATH}?watch=true`]];
const WRITES: readonly Call[] = [
  [`POST ${PATH}`, MEMO],
  [`PUT ${PATH}/x`, MEMO],
  [`PATCH ${PATH}/x`, {}, MERGE],
  [`DELETE ${PATH}/x`],
  [`DELETE ${PATH}`],
];

const status = (code: number, more: object = {}): string =>
  JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "Odd", message: "no", code, ...more });

async function start() {
  const said = { code: 200, body: "" };
  const behind = await misbehaving((res) => void res.writeHead(said.code, HEADERS).end(said.body));
  const memos = forward<MemoContent>({ resource: Memo, upstream: { url: behind.url }, onError: () => undefined });
  const view = defineVirtualWorkspace({
    name: "memos",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Memo.serve(memos)],
  });
  const front = await startPlain([view]);
  return {
    /** Returns the responses of calls while the upstream answers so. */
    outcomes: async (calls: readonly Call[], code: number, body: string) => {
      Object.assign(said, { code, body });
      const found = [];
      for (const [call, sent, headers = {}] of calls) found.push(await front.send(call, sent, { headers }));
      return found;
    },
    [Symbol.asyncDispose]: async () => {
      await front[Symbol.asyncDispose]();
      await memos[Symbol.asyncDispose]();
      await behind[Symbol.asyncDispose]();
    },
  };
}

describe("a forwarded GET of one object", () => {
  it("ends at the upstream when its caller disconnects", async () => {
    const arrived = Promise.withResolvers<void>();
    await using behind = await misbehaving(() => arrived.resolve());
    await using memos = forward<MemoContent>({
      resource: Memo,
      upstream: { url: behind.url },
      onError: () => undefined,
    });
    const view = defineVirtualWorkspace({
      name: "memos",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [Memo.serve(memos)],
    });
    await using front = await startPlain([view]);
    const leaving = new AbortController();
    const { signal } = leaving;
    const headers = { authorization: "Bearer alice" };
    const call = fetch(`${front.url}${PATH}/x`, { headers, signal }).catch(String);
    await arrived.promise;
    expect(await behind.open).to.equal(1);
    leaving.abort();
    await call;
    await until(async () => (await behind.open) === 0);
  });
});

describe("a response of a hostile upstream", () => {
  for (const code of [201, 206, 302, 307, 401, 407, 600, 999])
    it(`with the code ${code} and a Status becomes an error of this server`, async () => {
      await using view = await start();
      for (const { status: answered, headers, body } of await view.outcomes(READS, code, status(code))) {
        expect([answered, body.code, body.reason]).to.deep.equal([503, 503, "ServiceUnavailable"]);
        expect(headers).not.to.have.any.keys("location", "set-cookie", "www-authenticate", "proxy-authenticate");
      }
      for (const { status: answered, headers, body } of await view.outcomes(WRITES, code, status(code))) {
        // A code that does not say whether the write was applied leaves that unknown.
        const untold = code < 300 || code >= 600;
        expect([answered, body.code]).to.deep.equal(untold ? [504, 504] : [503, 503]);
        expect(headers).not.to.have.any.keys("location", "set-cookie", "www-authenticate", "x-theirs");
      }
    });

  for (const body of ["", "null", "[]", "{", status(200), JSON.stringify({ ...MEMO, kind: "Other" })])
    it(`with 200 and ${body || "nothing"} for a write does not count as success`, async () => {
      await using view = await start();
      for (const { status: answered, body: told } of await view.outcomes(WRITES, 200, body)) {
        expect(answered).to.equal(504);
        expect(told.message).to.match(
          /answered with something other than a Memo(List)?: the request may or may not have taken effect/,
        );
      }
    });

  for (const [what, more] of Object.entries({
    "that is a string with a line break": { retryAfterSeconds: "5\r\n" },
    "that is a list": { retryAfterSeconds: ["5\n"] },
    "that is half a second": { retryAfterSeconds: 0.5 },
    "in details that are null": null,
  }))
    it(`with Retry-After ${what} loses it, and keeps the rest`, async () => {
      await using view = await start();
      const body = status(429, { details: more });
      for (const answer of [...(await view.outcomes(READS, 429, body)), ...(await view.outcomes(WRITES, 429, body))]) {
        expect([answer.status, answer.body.reason, answer.body.message]).to.deep.equal([429, "Odd", "no"]);
        expect(answer.headers).not.to.have.property("retry-after");
      }
    });

  it("with a message and reason that are not strings loses them", async () => {
    await using view = await start();
    const body = status(403, { message: { toString: 1 }, reason: { toString: 1 }, details: { causes: 5 } });
    for (const answer of [...(await view.outcomes(READS, 403, body)), ...(await view.outcomes(WRITES, 403, body))]) {
      expect([answer.status, answer.body.message, answer.body.reason]).to.deep.equal([403, "", undefined]);
      expect(answer.body.details).to.deep.equal({});
    }
  });
});
