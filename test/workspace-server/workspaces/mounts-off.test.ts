// A server that does without mounted workspaces says so of each.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { Mounted, mountKind } from "../../plugins/mounts/workspaces/support/mounted.ts";

const URL = "https://far.example/clusters/root:far";
const ref = { kind: "KubeCluster", name: "a" };

describe("mounted workspaces, where the server does without", () => {
  it("say so and are Unavailable, and are as they were when it does with them again", async () => {
    await using store = memoryStore();
    {
      await using held = await Mounted.start({ store });
      await held.define(mountKind("KubeCluster"));
      await held.object(ref, { phase: "Ready", URL });
      await held.mount("before", ref);
      await held.until("before", ({ phase }) => phase === "Ready");
    }
    {
      await using held = await Mounted.start({ store, mounts: false, isKept: false });
      await held.mount("after", ref);
      for (const [name, url] of Object.entries({ before: URL, after: undefined }))
        expect(await held.until(name, ({ phase }) => phase === "Unavailable")).to.deep.equal({
          phase: "Unavailable",
          url,
          condition: [
            "False",
            "FeatureGateDisabled",
            "Error",
            "mounted workspaces are turned off: start the server with the feature gate WorkspaceMounts",
          ],
        });
    }
    await using held = await Mounted.start({ store });
    for (const name of ["before", "after"]) {
      const { url, condition } = await held.until(name, ({ phase }) => phase === "Ready");
      expect([url, condition?.[0], condition?.[1]]).to.deep.equal([URL, "True", undefined]);
    }
  });
});
