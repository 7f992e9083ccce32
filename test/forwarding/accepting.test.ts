// Writes through views over transformed kinds: the transformed object decides whether a write is accepted.
import { forward, type Transform } from "@virtual-workspaces/forwarding";
import { authenticated, defineVirtualWorkspace, view, type WritableSource } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";
import { MEMOS, Memo, type MemoContent, startThere } from "./upstream.ts";

/** Stored in lower case, shown in upper case. */
const CAPITALS: Required<Transform<MemoContent>> = {
  show: (memo) => ({ ...memo, spec: { ...memo.spec, text: memo.spec.text?.toUpperCase() ?? "" } }),
  keep: (memo) => ({ ...memo, spec: { ...memo.spec, text: memo.spec.text?.toLowerCase() ?? "" } }),
};
const PATH = `${MEMOS}/namespaces/a/memos`;
const memo = (name: string, text: string) => ({
  apiVersion: "test.dev/v1",
  kind: "Memo",
  metadata: { name, namespace: "a" },
  spec: { text },
});

async function start(isShown: (text: string | undefined) => boolean) {
  const there = await startThere();
  const memos = forward<MemoContent>({ resource: Memo, upstream: there.upstream, transform: CAPITALS });
  const shown = view({
    from: memos as WritableSource<MemoContent>,
    select: ({ spec }) => isShown(spec.text),
    mapToSource: ({ spec }) => ({ spec }),
  });
  const workspace = defineVirtualWorkspace({
    name: "memos",
    path: "/clusters/:cluster",
    authorize: authenticated(),
    resources: [Memo.serve(shown)],
  });
  const here = await startPlain([workspace]);
  return {
    here,
    there,
    [Symbol.asyncDispose]: async () => {
      await here[Symbol.asyncDispose]();
      await memos[Symbol.asyncDispose]();
      await there[Symbol.asyncDispose]();
    },
  };
}

describe("a write through a view of transformed objects", () => {
  it("is rejected if the view would not show the result, whatever the stored object looks like", async () => {
    await using views = await start((text) => text === "MINE" || text === "theirs");
    const { here, there } = views;
    expect((await here.send(`POST ${PATH}`, memo("x", "theirs"))).status).to.equal(403);
    expect(await there.memos.in("root", "a").get("x")).to.equal(undefined);
  });

  it("is accepted if the view shows the result", async () => {
    await using views = await start((text) => text === "MINE" || text === "OURS");
    const { here, there } = views;
    const made = await here.send(`POST ${PATH}`, memo("x", "MINE"));
    expect([made.status, made.body.spec?.text]).to.deep.equal([201, "MINE"]);
    const changed = await here.send(`PUT ${PATH}/x`, { ...made.body, spec: { text: "OURS" } });
    expect([changed.status, changed.body.spec?.text]).to.deep.equal([200, "OURS"]);
    expect((await here.send(`PUT ${PATH}/x`, { ...changed.body, spec: { text: "ELSE" } })).status).to.equal(403);
    expect((await there.memos.in("root", "a").get("x"))?.spec.text).to.equal("ours");
  });

  it("forwards no patch or deletecollection, so that neither affects objects outside the view", async () => {
    await using views = await start((text) => text === "MINE" || text === "OURS");
    const { here, there } = views;
    for (const [name, text] of Object.entries({ x: "mine", y: "ours", z: "theirs" }))
      there.memos.in("root", "a").set(name, { text });
    const merge = { headers: { "content-type": "application/merge-patch+json" } };
    const patched = async (name: string, text: string): Promise<number> =>
      (await here.send(`PATCH ${PATH}/${name}`, { spec: { text } }, merge)).status;
    expect([await patched("x", "OURS"), await patched("x", "ELSE"), await patched("z", "MINE")]).to.deep.equal([
      200, 403, 404,
    ]);
    expect((await here.send(`DELETE ${PATH}`)).status).to.equal(200);
    const left = ["x", "y", "z"].map((name) => there.memos.in("root", "a").get(name)?.spec.text);
    expect(left).to.deep.equal([undefined, undefined, "theirs"]);
    const verbs = new Set(there.asked.map(({ verb }) => verb));
    expect(verbs).to.include("update").and.to.include("delete");
    expect(verbs).not.to.include("patch").and.not.to.include("deletecollection");
  });
});
