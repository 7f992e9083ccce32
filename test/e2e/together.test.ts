// examples/over-spaces/together.ts: all Spaces as one API server, in its own process, with the users of the management
// cluster.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { Start } from "../cli/support/start.ts";
import { kubectl } from "../go/support/kubectl.ts";
import { Program } from "../go/support/program.ts";
import { kubectls, needsKubectl } from "./support/kubectls.ts";

const TOGETHER = ["--conditions=@virtual-workspaces/source", join(root, "examples/over-spaces/together.ts"), "0"];
const USERS = { "tokens.csv": "ann-token,ann,1\n" };

describe("examples/over-spaces/together.ts", function () {
  this.timeout(120_000);
  let server: Start;

  before(async function () {
    needsKubectl.call(this);
    server = await Start.ready({ flags: ["--batteries-included=+spaces"], files: USERS });
    await management("wait", "spaceproviderdesc/default", "--for=jsonpath={.status.Phase}=Ready");
    for (const name of ["shop", "bar"]) {
      const file = join(server.folder.path, "space.json");
      const about = { apiVersion: "space.kubestellar.io/v1alpha1", kind: "Space", metadata: { name } };
      writeFileSync(file, JSON.stringify({ ...about, spec: {} }));
      await management("create", "-f", file);
      await management("wait", `space/${name}`, "--for=jsonpath={.status.Phase}=Ready");
    }
  });
  after(() => server?.[Symbol.asyncDispose]());

  async function management(...args: readonly string[]): Promise<string> {
    const said = await server.kubectl("--server", `${server.url}/clusters/root:spaces`, ...args);
    expect(said, args.join(" ")).to.match(/^0 /);
    return said.slice(2);
  }

  it("serves them to users whom the management cluster authorizes, and prints its URL", async () => {
    const kubeconfig = join(server.folder.path, "together.kubeconfig");
    const ca = Buffer.from(server.text("apiserver.crt")).toString("base64");
    const cluster = { server: `${server.url}/clusters/root:spaces`, "certificate-authority-data": ca };
    const user = { token: server.token("shard-admin") };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        ...{ clusters: [{ name: "it", cluster }], users: [{ name: "it", user }], "current-context": "it" },
        contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
      }),
    );
    const home = { home: server.folder.path, kubeconfig: "/dev/null" };
    const env = { HOME: server.folder.path, KUBECONFIG: kubeconfig, cwd: server.folder.path };
    await using together = new Program(localNode, TOGETHER, env);
    await together.until("where it is", () => together.lines[0] !== undefined, 20_000);
    const url = /--server='([^']+)\/\*\/\*'/.exec(together.lines[0] ?? "")?.[1];
    const says = (at: string, token: string, ...args: readonly string[]) =>
      kubectl(kubectls()[0] ?? "", home, [
        `--server=${url}/${at}`,
        `--certificate-authority=${join(server.folder.path, "together-tls/ca.crt")}`,
        `--token=${token}`,
        ...args,
      ]);
    const admin = server.token("shard-admin");
    for (const space of ["shop", "bar"]) {
      const made = await says(`default/${space}`, admin, "create", "configmap", `of-${space}`);
      expect(made).to.include({ code: 0, stdout: `configmap/of-${space} created` });
    }
    const listed = async (token: string) =>
      says("*/*", token, "get", "configmaps", "-o=name", "--field-selector=metadata.name!=kube-root-ca.crt");
    expect((await listed(admin)).stdout).to.equal("configmap/of-bar\nconfigmap/of-shop");
    expect((await listed("nobody")).stderr).to.match(/must be logged in|Unauthorized/);
    expect((await listed("ann-token")).stderr).to.include('User "ann" cannot list');
    await management(
      "create",
      "clusterrole",
      "spaces",
      "--verb=get,list",
      "--resource=spaces.space.kubestellar.io/proxy",
    );
    await management("create", "rolebinding", "ann", "--clusterrole=spaces", "--user=ann");
    const enters = "system:kcp:workspace:access";
    await management("create", "clusterrolebinding", "ann", `--clusterrole=${enters}`, "--user=ann");
    // A denial is cached for one second.
    let seen = await listed("ann-token");
    while (seen.code !== 0) seen = await listed("ann-token");
    expect(seen.stdout).to.equal("configmap/of-bar\nconfigmap/of-shop");
    together.signal("SIGTERM");
    expect(await together.ended).to.eql({ code: 0, signal: null });
    expect(together.stderr).to.equal("");
  });
});
