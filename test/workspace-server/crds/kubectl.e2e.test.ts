// Why: the machine's kubectl defines and uses a kind. Skipped without kubectl.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { kubeconfigHome, startTls } from "../../_support/server.ts";
import { definition, version } from "./definitions.ts";
import { controllerOf, viewOf } from "./subject.ts";

const KUBECTL = process.env["KUBECTL"] ?? "kubectl";
const run = promisify(execFile);

const SIZED = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      description: "What is wanted.",
      properties: { size: { type: "integer", description: "How large." } },
      "x-kubernetes-validations": [{ rule: "self.size < 10", message: "too large" }],
    },
  },
};

describe("kubectl with custom resources", function () {
  this.timeout(60_000);

  before(async function () {
    await run(KUBECTL, ["version", "--client"]).catch(() => this.skip());
  });

  it("defines, waits, explains, creates, gets and deletes, and shows validation errors", async () => {
    await using store = memoryStore();
    await using crds = controllerOf(store);
    await crds.start();
    await using server = await startTls([viewOf(crds)]);
    const { authority, port } = server;
    using home = await kubeconfigHome({ authority, port, contexts: { one: "/services/shard/clusters/one" } });
    const env = { ...process.env, HOME: home.home, KUBECONFIG: home.kubeconfig };
    const kubectl = async (...args: string[]): Promise<string> => {
      const { stdout, stderr } = await run(KUBECTL, args, { env }).catch(
        (error: { stdout: string; stderr: string }) => error,
      );
      return (stdout + stderr).trim();
    };
    const file = (name: string, content: object): string => {
      const path = join(home.home, `${name}.json`);
      writeFileSync(path, JSON.stringify(content));
      return path;
    };
    const crd = definition({
      names: { shortNames: ["wi"], categories: ["all"] },
      spec: {
        versions: [
          version({
            schema: { openAPIV3Schema: SIZED },
            additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
          }),
        ],
      },
    });
    const widget = (name: string, size: number): object => ({
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { name, namespace: "default" },
      spec: { size },
    });
    expect(await kubectl("apply", "-f", file("crd", crd))).to.contain("widgets.example.dev created");
    expect(await kubectl("wait", "--for=condition=Established", "crd/widgets.example.dev", "--timeout=20s")).to.contain(
      "condition met",
    );
    expect(await kubectl("explain", "widgets.spec.size")).to.match(/FIELD: size <integer>[\s\S]*How large\./);
    expect(await kubectl("apply", "-f", file("good", widget("good", 3)))).to.contain("created");
    expect(await kubectl("apply", "-f", file("bad", widget("bad", 30)))).to.contain("spec: Invalid value: too large");
    expect((await kubectl("get", "wi")).split(/\s+/)).to.deep.equal(["NAME", "SIZE", "good", "3"]);
    expect(await kubectl("apply", "-f", file("crd", crd))).to.contain("unchanged");
    expect(await kubectl("delete", "crd", "widgets.example.dev", "--timeout=20s")).to.contain("deleted");
    expect(await kubectl("get", "widgets")).to.match(/NotFound|doesn't have a resource type/);
  });
});
