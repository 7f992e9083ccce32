// Spaces with the same name: from two providers, and from one provider in two namespaces.
import { namespaceOf } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import { Lent } from "../support/lent.ts";
import { isReady } from "../support/management.ts";
import { MAPS, Viewed } from "../support/viewed.ts";

const MENUS = `${MAPS}?fieldSelector=metadata.name%3Dmenu`;

describe("Spaces with the same name in the view", function () {
  this.timeout(60_000);
  let lent: Lent;
  let viewed: Viewed;

  before(async () => {
    lent = await Lent.start();
    const { management } = lent;
    for (const name of ["east", "west"]) {
      await makeWorkspace(management.server, name);
      await management.provide(name, { secret: { kubeconfig: management.kubeconfig(`root:${name}`) } });
      await management.untilProvider(name, (one) => one?.status?.Phase === "Ready");
      await management.make(namespaceOf(name), "shop");
      await management.until(namespaceOf(name), "shop", isReady);
    }
    viewed = await Viewed.over(lent);
    await viewed.engaged(2);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "menu" } };
    for (const name of ["east", "west"]) {
      const made = await viewed.server.send(`POST /services/spaces/${name}/shop${MAPS}`, map, { user: "root" });
      expect(made.status, made.text).to.equal(201);
    }
  });
  after(async () => {
    await viewed?.[Symbol.asyncDispose]();
    await lent?.[Symbol.asyncDispose]();
  });

  it("are distinguished by their provider", async () => {
    const [east, west] = ["east", "west"].map((name) => `${namespaceOf(name)}/shop menu`);
    expect(await viewed.names(MENUS)).to.eql([east, west]);
    expect(await viewed.names(MENUS, "*/shop")).to.eql([east, west]);
    expect(await viewed.names(MENUS, "west/*")).to.eql([west]);
    const menu = await viewed.get(`${MAPS}/menu`, "*/shop");
    expect(menu.body.message).to.include("/services/spaces/east/shop, /services/spaces/west/shop");
    expect((await viewed.get(`${MAPS}/menu`, "east/shop")).body.metadata.annotations).to.not.have.property("x");
  });

  it("of one provider are served together, and are ambiguous as a single Space", async () => {
    const { management } = lent;
    for (const name of ["both", "elsewhere"]) await makeWorkspace(management.server, name);
    const metadata = { annotations: { "kubestellar.io/space-path": "root:elsewhere" } };
    await management.provide("all", { secret: { kubeconfig: management.kubeconfig("root:both") } });
    await management.untilProvider("all", (one) => one?.status?.Phase === "Ready");
    await management.make("default", "stall", { SpaceProviderDescName: "all" });
    await management.make(namespaceOf("all"), "stall", { SpaceProviderDescName: "all", metadata });
    for (const namespace of ["default", namespaceOf("all")]) await management.until(namespace, "stall", isReady);
    await viewed.engaged(4);
    const { status, body } = await viewed.get(MENUS, "all/stall");
    expect([status, body.message]).to.eql([
      400,
      'spaces.space.kubestellar.io "stall" is ambiguous: several Spaces have this name: default/stall, spaceprovider-all/stall: rename all but one, or read them together at /services/spaces/*/stall',
    ]);
    expect((await viewed.get(MENUS, "*/stall")).status).to.equal(200);
  });
});
