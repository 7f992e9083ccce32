// Views over another API server's objects: one upstream watch feeds them, and ends them with 410 when the upstream denies it.

import { forward } from "@virtual-workspaces/forwarding";
import { authenticated, defineVirtualWorkspace, merged, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label, startPlain } from "../_support/plain.ts";
import { Memo, type MemoContent, startThere } from "./upstream.ts";

describe("a view of a forwarded kind", () => {
  it("shows its selection in every place, and follows the upstream", async () => {
    await using there = await startThere();
    await using memos = forward<MemoContent>({ resource: Memo, upstream: there.upstream, renewEvery: 1_000 });
    const shown = view({ from: memos, select: ({ spec }) => spec.text === "shown" });
    const workspace = defineVirtualWorkspace({
      name: "memos",
      path: "/clusters/:cluster",
      authorize: authenticated(),
      resources: [Memo.serve(shown)],
    });
    await using here = await startPlain([workspace]);
    const place = (namespace: string): string =>
      `/services/memos/clusters/root/apis/test.dev/v1/namespaces/${namespace}/memos`;
    const names = async (path: string): Promise<string[]> =>
      (await here.get(path)).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    const set = (namespace: string, name: string, text: string): unknown =>
      there.memos.in("root", namespace).set(name, { text });
    set("a", "x", "shown");
    set("b", "y", "shown");
    // The first request is for one namespace; the others have their objects too.
    expect(await names(place("a"))).to.deep.equal(["x"]);
    expect(await names(place("b"))).to.deep.equal(["y"]);
    await using watch = await here.watch(`${place("b")}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED y"]);
    set("b", "y", "hidden");
    set("b", "z", "shown");
    expect(await watch.take(2)).to.deep.equal(["DELETED y", "ADDED z"]);
    expect(memos.state.watches).to.equal(1);
    expect(await names(place("b"))).to.deep.equal(["z"]);

    there.barred.add("alice");
    expect((await watch.rest()).map(label)).to.deep.equal(["ERROR 410"]);
    expect((await here.get(place("b"))).status).to.equal(403);
    there.barred.clear();
    expect(await names(place("b"))).to.deep.equal(["z"]);
  });
});

describe("forwarded kinds as one collection", () => {
  it("are one stream with one sequence of versions, whichever part is requested first", async () => {
    await using there = await startThere();
    await using memos = forward<MemoContent>({ resource: Memo, upstream: there.upstream, renewEvery: 1_000 });
    const workspace = defineVirtualWorkspace({
      name: "memos",
      path: "/clusters/:cluster",
      authorize: authenticated(),
      resources: [Memo.serve(merged({ sources: { there: memos }, shareKey: () => "" }))],
    });
    await using here = await startPlain([workspace]);
    const place = (namespace: string): string =>
      `/services/memos/clusters/root/apis/test.dev/v1/namespaces/${namespace}/memos`;
    there.memos.in("root", "a").set("x", {}, { labels: { l: "1" } });
    there.memos.in("root", "b").set("y", {}, { labels: { l: "1" } });
    for (const [namespace, name] of [
      ["a", "x"],
      ["b", "y"],
    ] as const) {
      const { body } = await here.get(place(namespace));
      expect(body.items.map((item: typeof body) => item.metadata.name)).to.deep.equal([name]);
    }
    const { body } = await here.get(place("b"));
    await using watch = await here.watch(
      `${place("b")}?watch=true&labelSelector=l%3D1&resourceVersion=${body.metadata.resourceVersion}`,
    );
    there.memos.in("root", "b").delete("y");
    expect(await watch.take(1)).to.deep.equal(["DELETED y"]);
    expect(memos.state.watches, "watches of the other server").to.equal(1);
  });
});
