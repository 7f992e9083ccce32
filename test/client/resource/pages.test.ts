import { expect } from "chai";
import { answering, status } from "../answers.ts";
import { Fleet, startFleets } from "../fleets.ts";
import { apiError, rejected } from "../thrown.ts";

const page = (names: readonly string[], metadata: object): { body: string } => ({
  body: JSON.stringify({
    kind: "NoteList",
    apiVersion: "test.dev/v1",
    metadata,
    items: names.map((name) => ({ metadata: { name } })),
  }),
});
const expired = (token?: string): ReturnType<typeof status> =>
  status(410, { reason: "Expired", metadata: token === undefined ? {} : { continue: token } });
const names = ({
  items,
}: {
  readonly items: readonly { readonly metadata: { readonly name?: string } }[];
}): unknown[] => items.map(({ metadata }) => metadata.name);

describe("all pages of a list", () => {
  it("form one list at one version", async () => {
    await using at = await startFleets();
    for (let n = 0; n < 7; n++) at.fleets.in("root", "sea").set(`f${n}`, { ships: n });
    const before = at.client.upstream.stats.requests;
    const { items, consistent, metadata } = await at.client.resource(Fleet).all({ limit: 3 });
    expect(items.map(({ spec }) => spec?.ships)).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
    expect(at.client.upstream.stats.requests - before).to.equal(3);
    expect(consistent).to.equal(true);
    expect(metadata).to.have.all.keys("resourceVersion");
    await using watch = at.client.resource(Fleet).watch({ resourceVersion: metadata.resourceVersion ?? "" });
    const next = watch.next();
    at.fleets.in("root", "sea").delete("f0");
    expect((await next).value).to.include({ type: "DELETED" });
  });

  it("continue with the token of a 410, and are then marked as inconsistent", async () => {
    const answers = [
      page(["a"], { resourceVersion: "1", continue: "t1" }),
      expired("t2"),
      page(["c"], { resourceVersion: "9" }),
    ];
    await using at = await answering(answers);
    const list = await at.notes.all({ resourceVersion: "1", resourceVersionMatch: "Exact" });
    expect([names(list), list.consistent, list.metadata]).to.deep.equal([["a", "c"], false, {}]);
    const queries = at.asked.map(({ url }) => new URL(url, "http://x").searchParams);
    expect(queries.map((query) => query.get("continue"))).to.deep.equal([null, "t1", "t2"]);
    expect(queries.map((query) => query.get("resourceVersion"))).to.deep.equal(["1", null, null]);
  });

  it("restart as one request without such a token, or if the caller requires one version", async () => {
    for (const [token, options] of [
      [undefined, {}],
      ["t2", { whenExpired: "relist" }],
    ] as const) {
      const answers = [
        page(["a"], { resourceVersion: "1", continue: "t1" }),
        expired(token),
        page(["b", "c"], { resourceVersion: "9" }),
      ];
      await using at = await answering(answers);
      const list = await at.notes.all(options);
      expect([names(list), list.consistent, list.metadata.resourceVersion]).to.deep.equal([["b", "c"], true, "9"]);
      expect(new URL(at.asked[2]?.url ?? "", "http://x").searchParams.has("limit")).to.equal(false);
    }
  });

  it("fail if the first page has expired already, or the server repeats a token", async () => {
    await using at = await answering([expired()]);
    expect((await apiError(at.notes.all())).reason).to.equal("Expired");
    await using circle = await answering([page(["a"], { continue: "t" })]);
    expect((await rejected(circle.notes.all())).message).to.include("same continue token");
  });
});
