// Logical cluster in which `serve` reviews tokens: kcp answers 500 to a TokenReview outside of one.
import { expect } from "chai";
import { upstreamsOf } from "../../packages/cli/src/serve/serve-upstreams.ts";
import { testLog } from "../_setup/log.ts";
import { tree } from "../_setup/tree.ts";

const kubeconfig = (server: string): string =>
  JSON.stringify({
    clusters: [{ name: "a", cluster: { server } }],
    contexts: [{ name: "a", context: { cluster: "a", user: "" } }],
    "current-context": "a",
  });

/** Returns the logical cluster of reviews, by the URLs of `--kubeconfig` and `--authentication-kubeconfig`. */
async function reviewedIn(shard: string, authentication?: string): Promise<string | undefined> {
  using folder = tree({ shard: kubeconfig(shard), authentication: kubeconfig(authentication ?? shard) });
  await using stack = new AsyncDisposableStack();
  const file = (name: string): string => `${folder.path}/${name}`;
  const upstreams = await upstreamsOf(
    {
      workspaces: file("shard"),
      context: undefined,
      cache: undefined,
      everywhere: undefined,
      authentication: authentication === undefined ? undefined : file("authentication"),
    },
    { log: testLog().log, stack },
  );
  return upstreams.authentication.cluster;
}

describe("tokens of callers of serve", () => {
  it("are reviewed in root, unless the URL of the kubeconfig names a workspace", async () => {
    expect(await reviewedIn("https://kcp.example:6443")).to.equal("root");
    expect(await reviewedIn("https://kcp.example:6443/clusters/root:team")).to.equal("root:team");
  });

  it("are reviewed where a kubeconfig for them leads, which may be no kcp", async () => {
    expect(await reviewedIn("https://kcp.example:6443", "https://k8s.example:6443")).to.equal(undefined);
    expect(await reviewedIn("https://kcp.example:6443", "https://kcp.example/clusters/root:users")).to.equal(
      "root:users",
    );
  });
});
