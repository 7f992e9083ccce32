// Informers with watches that send invalid data, end too early or are rejected: no wrong state, and no flood of requests.
import { Client } from "@virtual-workspaces/client";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { type Answering, added, bookmark, expired, modified, note, Scripted, status } from "./scripted.ts";
import { NOTE, Watched } from "./support.ts";

const first = (answer: Answering): Answering => answer.events(added("a", "10"), bookmark("10", true));

describe("watches of an informer", () => {
  const lies: Readonly<Record<string, unknown>> = {
    "an object of another kind": {
      type: "ADDED",
      object: { apiVersion: "v1", kind: "Pod", metadata: { name: "a", resourceVersion: "11" } },
    },
    "a deletion of another kind": {
      type: "DELETED",
      object: { apiVersion: "v1", kind: "Note", metadata: { name: "a", resourceVersion: "11" } },
    },
    "an object without a version": { type: "MODIFIED", object: { ...note("a", "11"), metadata: { name: "a" } } },
    "an object without a name": { type: "ADDED", object: { ...note("a", "11"), metadata: { resourceVersion: "11" } } },
    "an event of an unknown type": { type: "RENAMED", object: note("a", "11") },
    "a line that is not an event": { kind: "Note" },
    "an event without an object": { type: "DELETED", object: "a" },
    null: null,
  };
  for (const [which, lie] of Object.entries(lies))
    it(`reject ${which}`, async () => {
      await using server = await Scripted.start(({ way, nth }, answer) => {
        if (way === "watchList") first(answer).end();
        else if (nth === 0) answer.events(lie, modified("a", "12"));
        else answer.events(modified("a", "13"));
      });
      await using watched = await Watched.synced(server.port);
      await watched.until(() => watched.events.length === 2);
      expect([...watched.versions()]).to.deep.equal([["a", "13"]]);
      expect(watched.labels).to.deep.equal(["added a", "updated a"]);
      expect(watched.informer.metrics.errors).to.equal(1);
      // The informer resumes before the invalid event.
      expect(server.asked.at(-1)?.query.get("resourceVersion")).to.equal("10");
    });

  it("reject an object of another namespace than requested", async () => {
    const of = (namespace: string, resourceVersion: string) => ({
      type: "ADDED",
      object: { ...note("a", "1"), metadata: { name: "a", namespace, resourceVersion } },
    });
    await using server = await Scripted.start(({ way, nth }, answer) => {
      if (way === "watchList") answer.events(of("mine", "10"), bookmark("10", true)).end();
      else answer.events(of(nth === 0 ? "theirs" : "mine", "12"));
    });
    await using client = new Client({ upstream: { url: `http://127.0.0.1:${server.port}` } });
    const resource = client.resource({ ...NOTE, scope: "Namespaced" }).in("mine");
    await using watched = await Watched.synced(server.port, { resource });
    await watched.until(() => watched.events.length === 2);
    expect(watched.events.map(({ type, key }) => `${type} ${key.namespace}`)).to.deep.equal([
      "added mine",
      "updated mine",
    ]);
    expect(watched.lifecycle.flatMap((event) => (event.type === "error" ? [event.error.message] : []))).to.deep.equal([
      'notes: the server sent an object of namespace "theirs" instead of Note objects',
    ]);
  });

  it("cause no flood of lists if the server is always older than its lists", async () => {
    await using server = await Scripted.start(({ way }, answer) => {
      if (way === "watchList") answer.status(422, "Invalid");
      else if (way === "list") answer.list("10", { a: "10" });
      else answer.events(bookmark("9"));
    });
    await using watched = await Watched.synced(server.port, { backoff: { first: 20, most: 10_000 } });
    await until(() => server.count("watch") >= 6);
    const at = server.asked.filter(({ way }) => way === "watch").map((asked) => asked.at);
    expect((at[5] ?? 0) - (at[0] ?? 0)).to.be.above(10 + 20 + 40 + 80 + 160);
    expect(watched.labels).to.deep.equal(["added a"]);
  });

  it("ignore repeated and older events", async () => {
    await using server = await Scripted.start(({ way, nth }, answer) => {
      if (way === "watchList") first(answer).end();
      else if (nth === 0)
        answer
          .events(modified("a", "12"), bookmark("15"), modified("a", "12"), modified("a", "11"), {
            type: "DELETED",
            object: note("a", "11"),
          })
          .end();
      else answer.events(modified("a", "16"));
    });
    await using watched = await Watched.synced(server.port);
    await watched.until(() => watched.events.length === 3);
    expect(watched.events.map(({ object }) => object.metadata.resourceVersion)).to.deep.equal(["10", "12", "16"]);
    expect(server.asked.at(-1)?.query.get("resourceVersion")).to.equal("15");
    expect(watched.informer.metrics).to.include({ suppressed: 3, bookmarks: 1 });
  });

  it("are followed by one list after 410, as a response and as an event", async () => {
    for (const asEvent of [true, false]) {
      await using server = await Scripted.start(({ way, nth }, answer) => {
        if (way === "watchList")
          nth === 0 ? first(answer).end() : answer.events(added("b", "20"), bookmark("20", true));
        else if (asEvent) answer.events(expired).end();
        else answer.status(410, "Gone");
      });
      await using watched = await Watched.synced(server.port);
      await watched.until(() => watched.told.includes("relisted"));
      expect(watched.labels).to.deep.equal(["added a", "added b", "deleted a"]);
      expect(server.asked.map(({ way }) => way)).to.deep.equal(["watchList", "watch", "watchList"]);
      expect(watched.informer.metrics).to.include({ relists: 1, expired: 1, errors: 0 });
    }
  });

  it("cause no flood of lists if they always expire", async () => {
    await using server = await Scripted.start(({ way }, answer) => {
      if (way === "watchList") first(answer).end();
      else answer.events(expired).end();
    });
    await using watched = await Watched.synced(server.port, { backoff: { first: 50, most: 400 } });
    await watched.until(() => watched.told.filter((type) => type === "relisted").length === 6);
    const at = server.asked.filter(({ way }) => way === "watchList").map((asked) => asked.at);
    // At once, then after 50 to 100, 100 to 200, 200 to 400 ms, and so on.
    expect((at[6] ?? 0) - (at[0] ?? 0)).to.be.above(600);
    expect(watched.labels).to.deep.equal(["added a"]);
  });

  it("are retried with growing delays if they end at once", async () => {
    await using server = await Scripted.start(({ way }, answer) => {
      if (way === "watchList") first(answer).end();
      else answer.events().end();
    });
    await using watched = await Watched.synced(server.port, { backoff: { first: 20, most: 10_000 } });
    await until(() => server.count("watch") >= 6);
    const at = server.asked.filter(({ way }) => way === "watch").map((asked) => asked.at);
    expect((at[5] ?? 0) - (at[0] ?? 0)).to.be.above(20 + 40 + 80 + 160);
    expect(watched.informer.metrics).to.include({ errors: 0, relists: 0 });
  });

  it("wait for Retry-After of 429 and 503, from the header or the body", async () => {
    const answers = [
      (answer: Answering) => answer.status(429, "TooManyRequests", { "Retry-After": "1" }),
      (answer: Answering) =>
        answer.json({ ...status(503, "ServiceUnavailable"), details: { retryAfterSeconds: 1 } }, 503),
    ];
    await using server = await Scripted.start(({ way, nth }, answer) => {
      const refuse = way === "watchList" ? answers[nth] : undefined;
      if (refuse !== undefined) refuse(answer);
      else first(answer);
    });
    await using watched = await Watched.synced(server.port);
    const at = server.asked.map((asked) => asked.at);
    expect((at[1] ?? 0) - (at[0] ?? 0))
      .to.be.above(990)
      .and.below(3000);
    expect((at[2] ?? 0) - (at[1] ?? 0))
      .to.be.above(990)
      .and.below(3000);
    const waits = watched.lifecycle.flatMap((event) => (event.type === "error" ? [event.retryIn] : []));
    expect(waits).to.deep.equal([1000, 1000]);
  });

  it("wait for a kind that does not exist yet, and for permission", async () => {
    const codes = [404, 401, 403, 500, 503];
    await using server = await Scripted.start((asked, answer) => {
      const code = codes[server.asked.length - 1];
      if (code !== undefined) answer.status(code, "Unknown");
      else if (asked.way === "list") answer.list("10", { a: "10" });
      else if (asked.way === "watchList") first(answer);
      else answer.events();
    });
    await using watched = await Watched.synced(server.port);
    expect(watched.told.filter((type) => type === "error")).to.have.length(5);
    expect(watched.labels).to.deep.equal(["added a"]);
  });

  it("list again if the server has not reached their version", async () => {
    await using server = await Scripted.start(({ way, nth }, answer) => {
      const details = { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] };
      if (way === "watchList") nth === 0 ? first(answer).end() : answer.events(added("b", "20"), bookmark("20", true));
      else answer.json({ ...status(504, "Timeout"), details }, 504);
    });
    await using watched = await Watched.synced(server.port);
    await watched.until(() => watched.told.includes("relisted"));
    expect(watched.labels).to.deep.equal(["added a", "added b", "deleted a"]);
  });
});
