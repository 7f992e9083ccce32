// Each template as a user meets it: created by `npm create` from a registry, installed, checked, tested and run.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";
import { Registry } from "../_support/registry.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";

const TEMPLATES = readdirSync(join(root, "packages/create-virtual-workspace/templates")).filter(
  (one) => one !== "every",
);
const LONGEST = 300_000;

/** Kind that a watch of a running project shows, and its first line. */
const SHOWN: Readonly<Record<string, { readonly command: string; readonly shows: RegExp }>> = {
  view: { command: "kubectl get gauges --watch", shows: /^load +\S+ +processes/m },
  "writable-view": {
    command: "kubectl apply -f ticket.yaml && kubectl get tickets -n red --watch",
    shows: /^chair +My chair is broken +low +admin/m,
  },
  "view-over-workspaces": {
    command:
      "kubectl create configmap menu && kubectl label configmap menu published=yes && kubectl get --raw /services/shop/clusters/root/api/v1/configmaps",
    shows: /"name":"menu"/,
  },
  controller: {
    command:
      "npm run --silent manifests | kubectl apply -f - && (npm start & kubectl apply -f site.yaml && kubectl get sites --watch)",
    shows: /^home +Hello +page-home/m,
  },
  express: {
    command: `curl --silent --insecure https://127.0.0.1:8443/todos --json '{"title": "Buy milk"}' && kubectl get todos --watch`,
    shows: /Buy milk +false/,
  },
};

describe("a project of npm create virtual-workspace", function () {
  this.timeout(LONGEST);
  let registry: Registry | undefined;
  let folder: Tree | undefined;

  before(async function () {
    needsKubectl.call(this);
    registry = await Registry.start();
    await registry.publishAll();
    folder = tree({});
  });
  after(async () => {
    await registry?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });

  /** Environment of a user with the Node.js of the clone, and nothing else of it. */
  const env = (): NodeJS.ProcessEnv => ({
    ...process.env,
    ...registry?.env,
    PATH: `${dirname(localNode)}:${process.env["PATH"]}`,
    KUBECONFIG: undefined,
  });

  for (const template of TEMPLATES)
    it(`with the template ${template} installs, type-checks, passes its tests, and serves`, async () => {
      const home = join(folder?.path ?? "", template);
      const project = join(home, "shop");
      const must = async (cwd: string, command: string): Promise<string> => {
        const { ok, output } = await run("sh", ["-c", command], { cwd, env: env() });
        expect(ok, `${command}\n${output}`).to.equal(true);
        return output;
      };
      await must(dirname(home), `mkdir ${template}`);
      const created = await must(home, `npm create --yes virtual-workspace@latest shop -- --template=${template}`);
      expect(created).to.contain("cd shop\n  npm install\n  npm run dev");
      await must(project, "npm install");
      await must(project, "npm run check");
      expect(await must(project, "npm test")).to.match(/^. pass [1-9]/m);

      await using dev = Running.start("npm run dev", project, env());
      const [, exports = ""] = await dev.prints(/((?:^export .*$\n)*^export KUBECONFIG=.*$(?:\nexport .*$)*)/m);
      const { command, shows } = SHOWN[template] ?? { command: "", shows: / / };
      await using shown = Running.start(`${exports}\n${command}`, project, env());
      await shown.prints(shows);
    });
});

/** A command line that runs until the end of its `using` block, with all it has started. */
class Running implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #end: Promise<unknown>;
  #output = "";
  #ended = false;
  #wake: () => void = () => undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        this.#wake();
      });
    this.#end = once(child, "close").then(() => {
      this.#ended = true;
      this.#wake();
    });
  }

  static start(command: string, cwd: string, env: NodeJS.ProcessEnv): Running {
    return new Running(spawn("sh", ["-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] }));
  }

  /** Resolves with the match once the output has it. @throws Error with the output if the command ends before, or after a minute */
  async prints(what: RegExp): Promise<RegExpExecArray> {
    const late = AbortSignal.timeout(60_000);
    late.addEventListener("abort", () => this.#wake());
    for (;;) {
      const found = what.exec(this.#output);
      if (found !== null) return found;
      if (this.#ended || late.aborted) throw new Error(`${what} was not printed:\n${this.#output}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGTERM");
    } catch {
      // It has ended.
    }
    await this.#end;
  }
}
