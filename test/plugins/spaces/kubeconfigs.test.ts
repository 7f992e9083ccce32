// Spaces from a list of kubeconfigs in a Secret.
import { kubeconfigsProvider, namespaceOf, Space } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { kubeconfigOf } from "./support/kept-spaces.ts";
import { conditionOf, isReady, MAP, Management, messageOf, SECRET } from "./support/management.ts";

const HERE = namespaceOf("list");

describe("Spaces from a list of kubeconfigs", function () {
  this.timeout(30_000);
  let management: Management;
  const types = { kubeconfigs: kubeconfigsProvider() };

  before(async () => {
    management = await Management.start();
  });
  after(() => management?.[Symbol.asyncDispose]());

  it("appear, change and disappear with the keys of the Secret, and cannot be created", async () => {
    await using manager = management.manager({ types });
    await manager.started;
    const below = management.kubeconfig("root:below");
    const run = JSON.stringify({ ...JSON.parse(below), users: [{ name: "it", user: { exec: { command: "false" } } }] });
    await management.provide("list", {
      type: "kubeconfigs",
      secret: { here: below, there: kubeconfigOf("there", "one"), run },
    });
    const here = await management.until(HERE, "here", isReady);
    expect(here?.spec.Type).to.equal("unmanaged");
    const client = await management.reached(here as never);
    expect(
      await client
        .resource(MAP)
        .in("default")
        .create({ metadata: { name: "seen" } }),
    ).to.have.property("metadata");
    // The program in a foreign kubeconfig is not run.
    const stranger = await management.until(HERE, "run", (space) => space?.status?.Phase === "Initializing");
    expect(messageOf(stranger, "Ready")).to.match(/^kubeconfig: exec of the user is not allowed in a Secret/);
    const there = await management.until(HERE, "there", isReady);

    await management.make(HERE, "made");
    const made = await management.until(
      HERE,
      "made",
      (space) => conditionOf(space, "Provided") === "False CreateFailed",
    );
    expect(messageOf(made, "Ready")).to.equal('the provider "list" cannot create spaces: set spec.Type to unmanaged');

    const text = kubeconfigOf("there", "two");
    await management.keep("provider-list", { there: text, made: kubeconfigOf("made", "one") });
    await management.until(HERE, "here", (space) => space === undefined);
    await management.until(HERE, "made", isReady);
    const secrets = management.client.resource(SECRET).in(HERE);
    for (;;)
      if (Buffer.from((await secrets.get("external-there")).data?.["kubeconfig"] ?? "", "base64").toString() === text)
        break;
    const after = await management.until(HERE, "there", isReady);
    expect(after?.status?.spaceID).to.equal(there?.status?.spaceID);
    await management.keep("provider-list", { there: kubeconfigOf("there", "two", "https://elsewhere.example.com") });
    await management.until(HERE, "there", (space) => space?.status?.spaceID === "https://elsewhere.example.com");

    const spaces = management.client.resource(Space).in(HERE);
    await spaces.delete("made");
    const held = await management.until(
      HERE,
      "made",
      (space) => conditionOf(space, "Provided") === "False DeleteFailed",
    );
    expect(messageOf(held, "Ready")).to.equal('the provider "list" cannot delete spaces: set spec.Type to unmanaged');
    await spaces.mergePatch("made", { spec: { Type: "unmanaged" } });
    await management.until(HERE, "made", (space) => space === undefined);
  });
});
