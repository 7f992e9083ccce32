// Why: a guide whose listings do not run misleads more than none. Every listing of docs/guides/writing-a-view.md is
// served as it stands, and the commands below it are run with the machine's kubectl and curl.
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { root } from "../tools/install.mjs";
import { tree } from "./_setup/tree.ts";
import { ALICE, type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "./_support/server.ts";

const run = promisify(execFile);

interface Listing {
  readonly title: string;
  readonly module: string;
  readonly commands: readonly Command[];
}

interface Command {
  /** As a shell would run it. */
  readonly line: string;
  readonly output: string;
}

function listings(markdown: string): Listing[] {
  const pattern = /^## (.+)$|^```(ts|console)\n([\s\S]*?)^```$/gm;
  const found: Listing[] = [];
  let title = "";
  let module = "";
  for (const [, heading, language, text = ""] of markdown.matchAll(pattern)) {
    if (heading !== undefined) title = heading;
    else if (language === "ts") module = text;
    else found.push({ title, module, commands: commands(text) });
  }
  return found;
}

function commands(text: string): Command[] {
  const blocks = text.split(/^\$ /m).slice(1);
  return blocks.map((block) => {
    const [line = "", ...output] = block.split("\n");
    return { line, output: output.join("\n") };
  });
}

/** Columns are as wide as their widest cell, and the age is not ours to know. */
function normalised(text: string): string {
  return text
    .replace(/[ \t]+/g, " ")
    .replace(/ $/gm, "")
    .trim();
}

function expected(output: string): RegExp {
  const literal = normalised(output).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("<age>", "\\d+[smh]")}$`);
}

/** What a command prints: its output, or what it complains of. The guide's server has the port of the real one. */
async function shell(line: string, { server, home }: { server: TlsServer; home: KubeconfigHome }): Promise<string> {
  writeFileSync(join(home.home, "ca.crt"), server.authority.ca);
  const env = { PATH: process.env["PATH"], HOME: home.home, KUBECONFIG: home.kubeconfig, TOKEN: ALICE.token };
  const real = line.replace("127.0.0.1:6444", `127.0.0.1:${server.port}`).replace(/\{.*?\}/g, "'$&'");
  try {
    return (await run("sh", ["-c", real], { env, cwd: home.home })).stdout;
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
}

describe("docs/guides/writing-a-view.md", () => {
  const all = listings(readFileSync(`${root}/docs/guides/writing-a-view.md`, "utf8"));

  it("has listings with commands below", () => {
    expect(all.map(({ commands }) => commands.length))
      .to.have.length.above(4)
      .and.not.include(0);
  });

  for (const { title, module, commands } of all) {
    it(title, async () => {
      using folder = tree({ "view.ts": module });
      symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
      const { default: view } = (await import(pathToFileURL(join(folder.path, "view.ts")).href)) as {
        default: VirtualWorkspace;
      };
      await using server = await startTls([view]);
      const path = `/services/${view.name}${view.path.replace(":cluster", "root").replace(":owner", "ann")}`;
      const { authority, port } = server;
      using home = await kubeconfigHome({
        authority,
        port,
        contexts: { view: path },
        user: "alice",
        namespace: "default",
      });
      for (const { line, output } of commands) {
        expect(normalised(await shell(line, { server, home })), line).to.match(expected(output));
      }
    }).timeout(30_000);
  }
});
