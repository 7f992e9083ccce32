// examples/over-spaces/board.ts: an informer of one kind over all spaces, while they are added, removed and unavailable.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { Start } from "../cli/support/start.ts";
import { startKubectl } from "../go/support/kubectl.ts";
import { Program } from "../go/support/program.ts";
import { kubectls, needsKubectl } from "./support/kubectls.ts";

const BOARD = ["--conditions=@virtual-workspaces/source", join(root, "examples/over-spaces/board.ts")];

describe("examples/over-spaces/board.ts", function () {
  this.timeout(120_000);
  let server: Start;

  before(async function () {
    needsKubectl.call(this);
    server = await Start.ready({ flags: ["--batteries-included=+spaces"] });
    await management("wait", "spaceproviderdesc/default", "--for=jsonpath={.status.Phase}=Ready");
    for (const name of ["shop", "bar"]) await lend(name);
  });
  after(() => server?.[Symbol.asyncDispose]());

  async function management(...args: readonly string[]): Promise<string> {
    const said = await server.kubectl("--server", `${server.url}/clusters/root:spaces`, ...args);
    expect(said, args.join(" ")).to.match(/^0 /);
    return said.slice(2);
  }

  async function lend(name: string): Promise<void> {
    const file = join(server.folder.path, "space.json");
    const about = { apiVersion: "space.kubestellar.io/v1alpha1", kind: "Space", metadata: { name } };
    writeFileSync(file, JSON.stringify({ ...about, spec: {} }));
    await management("create", "-f", file);
    await management("wait", `space/${name}`, "--for=jsonpath={.status.Phase}=Ready");
    const kubeconfig = await management("get", "secret", `external-${name}`, "-o", "jsonpath={.data.kubeconfig}");
    writeFileSync(join(server.folder.path, name), Buffer.from(kubeconfig, "base64"));
  }

  async function inside(name: string, ...args: readonly string[]): Promise<void> {
    const said = await server.kubectl("--kubeconfig", join(server.folder.path, name), ...args);
    expect(said, args.join(" ")).to.match(/^0 /);
  }
  const announce = async (space: string, name: string, text: string): Promise<void> => {
    await inside(space, "create", "configmap", name, `--from-literal=text=${text}`);
    await inside(space, "label", "configmap", name, "board.example.dev/notice=");
  };

  async function running(): Promise<Program> {
    const kubeconfig = join(server.folder.path, "board.kubeconfig");
    const token = server.token("shard-admin");
    const ca = Buffer.from(server.text("apiserver.crt")).toString("base64");
    const cluster = { server: `${server.url}/clusters/root:spaces`, "certificate-authority-data": ca };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        ...{ clusters: [{ name: "it", cluster }], users: [{ name: "it", user: { token } }] },
        ...{ contexts: [{ name: "it", context: { cluster: "it", user: "it" } }], "current-context": "it" },
      }),
    );
    return new Program(localNode, BOARD, { HOME: server.folder.path, KUBECONFIG: kubeconfig });
  }

  /** Waits until the board has exactly these lines. */
  async function shows(lines: Readonly<Record<string, string>>): Promise<void> {
    const wanted = JSON.stringify(lines);
    const args = [
      "--server",
      `${server.url}/clusters/root:spaces`,
      "get",
      "configmap",
      "--watch",
      "-o",
      "jsonpath={.data}{'\\n'}",
    ];
    await using watch = startKubectl(kubectls()[0] ?? "", server.home, [
      ...args,
      "--field-selector=metadata.name=board",
    ]);
    await watch.until(
      wanted,
      () => watch.lines.includes(wanted) || (wanted === "{}" && watch.lines.includes("")),
      20_000,
    );
  }

  it("has a line for each notice in any space, and none for deleted ones", async () => {
    await announce("shop", "sale", "half price");
    await announce("bar", "sale", "happy hour");
    await using board = await running();
    const first = { default_bar_default_sale: "happy hour", default_shop_default_sale: "half price" };
    await shows(first);
    await lend("gym");
    await announce("gym", "pool", "closed");
    await shows({
      default_bar_default_sale: "happy hour",
      default_gym_default_pool: "closed",
      default_shop_default_sale: "half price",
    });
    await management("delete", "space", "gym");
    await shows(first);
    await inside("bar", "delete", "configmap", "sale");
    await shows({ default_shop_default_sale: "half price" });
    expect(board.stderr).to.equal("");
  });

  it("removes lines of notices that were deleted while it was not running", async () => {
    await announce("bar", "quiz", "tonight");
    {
      await using _ = await running();
      await shows({ default_bar_default_quiz: "tonight", default_shop_default_sale: "half price" });
    }
    await inside("shop", "delete", "configmap", "sale");
    await management("delete", "space", "bar");
    await using board = await running();
    await shows({});
    expect(board.stderr).to.equal("");
  });
});
