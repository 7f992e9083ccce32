import { expect } from "chai";
import { Note } from "../../_support/note.ts";
import { until } from "../../_support/until.ts";
import { answering, listening, note, status } from "../answers.ts";
import { apiError, rejected, transportError } from "../thrown.ts";

const quick = { retries: { first: 1, longest: 5 } } as const;
const busy = { ...status(429), headers: { "Retry-After": "1" } };
const spec = { spec: {} };

describe("retries", () => {
  it("wait for Retry-After of a 429, for any request", async () => {
    await using at = await answering([busy, {}], quick);
    await at.notes.create({ metadata: { name: "a" }, ...spec });
    const [first, second] = at.asked;
    expect((second?.at ?? 0) - (first?.at ?? 0)).to.be.above(980);
    expect(at.asked.map(({ method }) => method)).to.deep.equal(["POST", "POST"]);
  });

  it("repeat reads, dry runs and applies after server errors, up to the maximum", async () => {
    const asks = [
      (notes: Notes) => notes.get("a"),
      (notes: Notes) => notes.apply({ metadata: { name: "a" }, ...spec }),
      (notes: Notes) => notes.create({ metadata: { name: "a" }, ...spec }, { dryRun: true }),
    ];
    for (const ask of asks)
      for (const code of [500, 502, 503, 504]) {
        await using at = await answering([status(code), status(code), {}], quick);
        await ask(at.notes);
        expect(at.asked).to.have.length(3);
        await using down = await answering([status(code)], quick);
        expect((await apiError(ask(down.notes))).code).to.equal(code);
        expect(down.asked).to.have.length(5);
      }
  });

  it("do not repeat writes that may have been processed, or permanent errors", async () => {
    const asks = [
      (notes: Notes) => notes.create({ metadata: { name: "a" }, ...spec }),
      (notes: Notes) => notes.update({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "a" }, ...spec }),
      (notes: Notes) => notes.mergePatch("a", {}),
      (notes: Notes) => notes.jsonPatch("a", []),
      (notes: Notes) => notes.delete("a"),
      (notes: Notes) => notes.status.mergePatch("a", {}),
    ];
    for (const ask of asks) {
      await using at = await answering([{ ...status(503), headers: { "Retry-After": "0" } }], quick);
      expect((await apiError(ask(at.notes))).code).to.equal(503);
      expect(at.asked).to.have.length(1);
    }
    for (const code of [400, 401, 403, 404, 409, 410, 422, 501]) {
      await using at = await answering([status(code)], quick);
      await apiError(at.notes.get("a"));
      expect(at.asked, String(code)).to.have.length(1);
    }
  });

  it("repeat a read after a broken connection, but not a create", async () => {
    await using at = await listening((req, res) => {
      if (req.method === "POST" || at.asked.length < 3) req.socket.destroy();
      else res.writeHead(200, { "Content-Type": "application/json" }).end(note("a"));
    }, quick);
    await at.notes.get("a");
    expect(at.asked).to.have.length(3);
    expect((await transportError(at.notes.create({ metadata: { name: "a" }, ...spec }))).code).to.equal("reset");
    expect(at.asked).to.have.length(4);
  });

  it("do not exceed the total time, and end at once with the signal's reason", async () => {
    await using at = await answering([{ ...status(429), headers: { "Retry-After": "3600" } }], quick);
    const error = await apiError(at.notes.get("a"));
    expect([error.status.details?.retryAfterSeconds, at.asked.length]).to.deep.equal([3600, 1]);
    const patient = at.client.constructor as typeof import("@virtual-workspaces/client").Client;
    await using client = new patient({ upstream: { url: at.url }, retries: { total: 10_000_000 } });
    const reason = new Error("changed my mind");
    const ended = new AbortController();
    const waiting = rejected(client.resource(Note).get("a", { signal: ended.signal }));
    await until(() => at.asked.length >= 2);
    ended.abort(reason);
    expect(await waiting).to.equal(reason);
  });

  it("can be disabled for a client or a call", async () => {
    await using at = await answering([busy], { retries: false });
    await apiError(at.notes.get("a"));
    await using other = await answering([busy], quick);
    await apiError(other.notes.get("a", { retries: false }));
    await apiError(other.notes.watch({ retries: false }).next());
    expect([at.asked.length, other.asked.length]).to.deep.equal([1, 2]);
  });

  it("repeat a watch that is rejected temporarily, but not one that breaks", async () => {
    await using at = await answering([status(503), status(429), { body: "" }], quick);
    expect(await at.notes.watch().next()).to.include({ done: true });
    expect(at.asked).to.have.length(3);
    await using cut = await listening((req) => req.socket.destroy(), quick);
    expect((await transportError(cut.notes.watch().next())).code).to.equal("reset");
    expect(cut.asked).to.have.length(1);
  });
});

type Notes = Awaited<ReturnType<typeof answering>>["notes"];
