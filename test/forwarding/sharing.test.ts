// forward(): sharing of upstream watches when functions of the options change their results.
import { expect } from "chai";
import { until } from "../_support/until.ts";
import { list, memo, scripted } from "./scripted.ts";
import { MEMOS } from "./upstream.ts";

const ALL = `${MEMOS}/memos`;
const silent = (): void => undefined;

/** Server with one memo per user, all with the same name. */
const own = {
  list: (_query: URLSearchParams, { headers }: { readonly headers: NodeJS.Dict<string | string[]> }): string =>
    list(10, memo(String(headers["impersonate-user"]), 10)),
  watches: [silent],
};

describe("a forwarded kind with an identity function", () => {
  it("calls it for every request: a caller with a new identity sees only that identity's objects", async () => {
    let tenant = "one";
    await using at = await scripted(own, { identity: () => ({ name: tenant }) });
    await using first = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await first.take(1)).to.deep.equal(["ADDED one"]);
    tenant = "two";
    const { body } = await at.here.server.get(ALL);
    expect(body.items[0].metadata.name).to.equal("two");
    await using second = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await second.take(1)).to.deep.equal(["ADDED two"]);
  });

  it("renews a watch with its original identity, so that its readers see no other's objects", async () => {
    let tenant = "one";
    const renewed: unknown[] = [];
    const asked = Promise.withResolvers<void>();
    await using at = await scripted(
      {
        ...own,
        watches: [
          (res) => res.end(),
          (_res, _query, { headers }) => {
            renewed.push(headers["impersonate-user"]);
            asked.resolve();
          },
        ],
      },
      {
        identity: () => {
          const name = tenant;
          tenant = "two";
          return { name };
        },
      },
    );
    await using watch = await at.here.server.watch(`${ALL}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED one"]);
    await asked.promise;
    expect(renewed).to.deep.equal(["one"]);
  });

  it("does not leave its place in the upstream's paths", async () => {
    await using at = await scripted(own, { cluster: () => ".." });
    expect((await at.here.server.get(ALL)).status).to.equal(404);
    expect((await at.here.server.get(`${MEMOS}/namespaces/a/memos/x`)).status).to.equal(404);
    expect(at.asked).to.deep.equal([]);
  });
});

describe("forwarded watches without readers", () => {
  it("are at most 100, for any number of selectors: the oldest end first", async () => {
    await using at = await scripted({ watches: [silent] });
    for (let count = 0; count < 110; count++) {
      await using watch = await at.here.server.watch(`${ALL}?watch=true&labelSelector=a%21%3D${count}`);
      expect(await watch.take(1)).to.deep.equal(["ADDED x"]);
    }
    await until(() => at.here.memos.state.watches <= 100);
    const lists = (): number => at.asked.filter((url) => !url.includes("watch=true")).length;
    const before = lists();
    await using kept = await at.here.server.watch(`${ALL}?watch=true&resourceVersion=10&labelSelector=a%21%3D109`);
    expect([kept.status, lists()]).to.deep.equal([200, before]);
    await using gone = await at.here.server.watch(`${ALL}?watch=true&resourceVersion=10&labelSelector=a%21%3D0`);
    expect([gone.status, lists()]).to.deep.equal([200, before + 1]);
  }).timeout(60_000);

  it("end if a list has endless pages", async () => {
    const pages = JSON.stringify({
      kind: "MemoList",
      metadata: { resourceVersion: "10", continue: "more" },
      items: [],
    });
    await using at = await scripted({ list: () => pages, watches: [silent] });
    const answer = await at.here.server.get(`${ALL}?watch=true`);
    expect([answer.status, answer.body.message]).to.deep.equal([
      503,
      `the server behind this view answered with an invalid list: it has more than 1000 pages`,
    ]);
  }).timeout(60_000);
});
