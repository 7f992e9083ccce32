// Every available kubectl scales, patches, edits and applies parts of an object, and calls custom subresources.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../_support/server.ts";
import type { Output } from "../go/support/kubectl.ts";
import { Program } from "../go/support/program.ts";
import { kubectls, nameOf } from "./support/kubectls.ts";

const Approval = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Approval",
  scope: "Namespaced",
  spec: { type: "object", required: ["by"], properties: { by: { type: "string" } } },
});

const Machine = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Machine",
  scope: "Namespaced",
  spec: { type: "object", properties: { replicas: { type: "integer", maximum: 10 }, image: { type: "string" } } },
  status: {
    type: "object",
    description: "What the machine does.",
    properties: { phase: { type: "string" }, replicas: { type: "integer" }, selector: { type: "string" } },
  },
  columns: { Phase: ".status.phase" },
  subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
});

const PATH = "/services/machines/clusters/root";
const OBJECT = "/apis/example.dev/v1/namespaces/default/machines/m";

const manifest = (content: object): string =>
  JSON.stringify({ apiVersion: "example.dev/v1", kind: "Machine", metadata: { name: "m" }, ...content });

describe("kubectl and subresources", function () {
  this.timeout(120_000);
  const found = kubectls();
  let server: TlsServer;
  let home: KubeconfigHome;
  const machines = Machine.collection();

  before(async function () {
    if (found.length === 0) this.skip();
    const view = defineVirtualWorkspace({
      name: "machines",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [
        Machine.serve(machines, {
          subresources: {
            approve: { kind: Approval, create: ({ body }) => ({ spec: { by: `${body.spec.by}, and we` } }) },
            log: { connect: (_req, res, { object }) => void res.end(`log of ${object.spec.image}\n`) },
          },
        }),
      ],
    });
    server = await startTls([view]);
    const { authority, port } = server;
    home = await kubeconfigHome({ authority, port, contexts: { machines: PATH }, namespace: "default" });
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    home?.[Symbol.dispose]();
  });

  for (const file of found) {
    describe(nameOf(file), () => {
      const inFile = (name: string, text: string): string => {
        const path = join(home.home, name);
        writeFileSync(path, text);
        return path;
      };
      const run = async (...args: string[]): Promise<Output> => {
        const own = join(home.home, nameOf(file));
        mkdirSync(own, { recursive: true });
        const editor = join(own, "editor");
        writeFileSync(editor, '#!/bin/sh\nsed -i "s/phase: .*/phase: Edited/" "$1"\n');
        chmodSync(editor, 0o755);
        const env = { HOME: own, KUBECONFIG: home.kubeconfig, KUBERC: "off", KUBE_EDITOR: editor };
        await using program = new Program(file, args, env);
        program.endInput();
        const { code } = await program.ended;
        return { code, stdout: program.lines.join("\n"), stderr: program.stderr.trimEnd() };
      };
      const told = async (...args: string[]): Promise<string> => {
        const { code, stdout, stderr } = await run(...args);
        expect(code, `${args.join(" ")}: ${stderr}`).to.equal(0);
        return stdout;
      };
      const read = (path: string): Promise<string> => told("get", "machine", "m", "-o", `jsonpath={${path}}`);
      /** Older versions resolve a raw path from the server's root, newer ones from the context's URL. */
      const raw = async (...args: string[]): Promise<string> => {
        const tries = await Promise.all(
          ["", PATH].map((root) => run(...args.map((arg) => arg.replace("@", root + OBJECT)))),
        );
        const answered = tries.filter(({ code }) => code === 0);
        expect(answered, JSON.stringify(tries)).to.have.length(1);
        return answered[0]?.stdout ?? "";
      };

      beforeEach(() => {
        machines.in("root", "default").delete("m");
        machines.in("root", "default").set("m", { replicas: 1, image: "x" });
      });

      it("finds the kind, and explains its status", async () => {
        expect(await told("api-resources", "-o", "wide", "--no-headers")).to.match(
          /^machines +example\.dev\/v1 +true +Machine +/,
        );
        expect(await told("explain", "machines.status")).to.include("What the machine does.");
      });

      it("scales with and without expected values", async () => {
        expect(await told("scale", "machine/m", "--replicas=3")).to.equal("machine.example.dev/m scaled");
        expect(await read(".spec.replicas")).to.equal("3");
        const stale = await run("scale", "machine/m", "--replicas=4", "--current-replicas=1");
        expect(stale).to.have.property("code", 1);
        expect(stale.stderr).to.match(/Expected replicas to be 1, was 3/i);
        await told("scale", "machine/m", "--replicas=4", "--current-replicas=3");
        const version = await read(".metadata.resourceVersion");
        await told("scale", "machine/m", "--replicas=5", `--resource-version=${version}`);
        const old = await run("scale", "machine/m", "--replicas=6", `--resource-version=${version}`);
        expect([old.code, await read(".spec.replicas")]).to.deep.equal([1, "5"]);
        const most = await run("scale", "machine/m", "--replicas=11");
        expect(most.stderr).to.include("spec.replicas in body should be less than or equal to 10");
        expect(await told("scale", "machines", "--all", "--replicas=0")).to.include("scaled");
      });

      it("gets the scale as a table, and patches it", async () => {
        const table = await told("get", "machine", "m", "--subresource=scale");
        expect(table).to.match(/^NAME +DESIRED +AVAILABLE(?: +AGE)?\nm +1 +0/);
        const patch = JSON.stringify({ spec: { replicas: 2 } });
        await told("patch", "machine", "m", "--subresource=scale", "--type=merge", "-p", patch);
        expect(await read(".spec.replicas")).to.equal("2");
      });

      it("patches, edits and replaces the status", async () => {
        const patch = JSON.stringify({ status: { phase: "Patched" }, spec: { image: "other" } });
        await told("patch", "machine", "m", "--subresource=status", "--type=merge", "-p", patch);
        expect(await read(".status.phase")).to.equal("Patched");
        await told("edit", "machine", "m", "--subresource=status");
        expect(await read(".status.phase")).to.equal("Edited");
        const now = JSON.parse(await told("get", "machine", "m", "-o", "json")) as object;
        const replaced = inFile("replaced.json", JSON.stringify({ ...now, status: { phase: "Replaced" } }));
        await told("replace", "--subresource=status", "-f", replaced);
        expect(await read(".status.phase")).to.equal("Replaced");
        expect(await read(".spec.image")).to.equal("x");
        expect(await told("get", "machine", "m")).to.match(/\nm +Replaced +/);
      });

      it("applies the status on the server side", async function () {
        if (!(await told("apply", "--help")).includes("--subresource")) this.skip();
        const applied = inFile("status.json", manifest({ status: { phase: "Applied" } }));
        const apply = ["apply", "--server-side", "--subresource=status", "-f", applied];
        await told(...apply, "--field-manager=controller");
        expect(await read(".status.phase")).to.equal("Applied");
        const other = inFile("other.json", manifest({ status: { phase: "Other" } }));
        const conflict = await run("apply", "--server-side", "--subresource=status", "-f", other, "--field-manager=me");
        expect(conflict.stderr).to.include('conflict with "controller" with subresource "status": .status.phase');
        await told(
          "apply",
          "--server-side",
          "--subresource=status",
          "-f",
          other,
          "--field-manager=me",
          "--force-conflicts",
        );
        expect(await read(".status.phase")).to.equal("Other");
      });

      it("calls custom subresources by their paths", async () => {
        expect(await raw("get", "--raw", "@/log")).to.equal("log of x");
        const approval = inFile("approval.json", JSON.stringify({ spec: { by: "ann" } }));
        const answer = JSON.parse(await raw("create", "--raw", "@/approve", "-f", approval)) as { spec: unknown };
        expect(answer.spec).to.deep.equal({ by: "ann, and we" });
      });
    });
  }
});
