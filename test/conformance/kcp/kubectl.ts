// Runs kubectl commands at a workspace server, and normalizes their output.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { tree } from "../../_setup/tree.ts";
import { CHILD_ENV } from "../../_support/child-env.ts";
import { Answers } from "../../differential/answers.ts";
import { clusterRoleBinding, user, workspace } from "./api.ts";
import type { Subject } from "./play.ts";
import { KcpSymbols } from "./symbols.ts";
import { FILES } from "./transcripts.ts";

const ACCESS = clusterRoleBinding("bob-access", "system:kcp:workspace:access", [user("bob")]);
const AGE = /(?<= )(?:\d+[smhd])+(?= |$)/gm;
const SPACES = / {2,}|\t+/g;
/** Start of a line of kubectl's own log: time and process id. */
const LOGGED = /^[EIW]\d{4} [\d:.]+ +\d+ /gm;

/** Returns the minor version, since messages differ between versions. */
export async function minorOf(file: string): Promise<string> {
  const { stdout } = await promisify(execFile)(file, ["version", "--client", "-o", "json"]);
  return (JSON.parse(stdout) as { clientVersion: { minor: string } }).clientVersion.minor;
}

interface Said {
  readonly code: number;
  readonly text: string;
}

/** Runs one list of commands, in a workspace of its own in `root`. */
export class Typist implements Disposable {
  readonly #folder = tree({});
  readonly #file: string;
  readonly #subject: Subject;
  readonly #name = `c${Math.random().toString(36).slice(2, 10).padEnd(8, "0")}`;
  readonly #symbols: KcpSymbols;

  constructor(file: string, subject: Subject) {
    this.#file = file;
    this.#subject = subject;
    this.#symbols = new KcpSymbols(subject.url);
    const answers = new Answers();
    answers.set("path", `root:${this.#name}`);
    const files = {
      ...FILES,
      access: ACCESS,
      workspace: workspace(this.#name, { spec: { type: { name: "universal", path: "root" } } }),
    };
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(this.#folder.path, name), stringifyJson(answers.fill(content)));
    writeFileSync(join(this.#folder.path, "ca.crt"), subject.tls?.ca ?? "");
  }

  /** @returns the commands and their output */
  async type(lines: readonly string[]): Promise<string> {
    await this.#must("root", "create -f workspace");
    const ready = "--for=jsonpath={.metadata.labels.tenancy\\.kcp\\.io/phase}=Ready";
    await this.#must("root", `wait ${ready} ws/${this.#name} --timeout=60s`);
    const cluster = await this.#must("root", `get ws ${this.#name} -o jsonpath={.spec.cluster}`);
    this.#symbols.name(cluster, "<ws>");
    this.#symbols.name(this.#name, "<name>");
    const here = `root:${this.#name}`;
    await this.#must(here, "create -f access");
    // Waits until the server knows that the user has access.
    for (const start = performance.now(); performance.now() - start < this.#subject.patienceMs; )
      if ((await this.#run("bob", here, "auth whoami")).code === 0) break;
    const said: string[] = [];
    for (const line of lines) {
      const [who = "", command = ""] = line.split(/ (.*)/s);
      const { code, text } = await this.#run(who as "admin", here, command);
      said.push(`$ ${line}`, ...this.#told(text), ...(code === 0 ? [] : [`(${code})`]));
    }
    await this.#must("root", `delete ws ${this.#name} --wait=false`);
    return said.join("\n");
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }

  async #must(path: string, command: string): Promise<string> {
    const { code, text } = await this.#run("admin", path, command);
    if (code !== 0) throw new Error(`kubectl ${command}: ${text}`);
    return text.trim();
  }

  #run(who: keyof Subject["tokens"], path: string, command: string): Promise<Said> {
    const { url, tokens } = this.#subject;
    const cwd = this.#folder.path;
    const ca = join(cwd, "ca.crt");
    const at = ["--server", `${url}/clusters/${path}`, "--token", tokens[who], "--certificate-authority", ca];
    const env = { ...CHILD_ENV, HOME: cwd, KUBECONFIG: join(cwd, "none"), KUBERC: "off", TZ: "UTC" };
    return new Promise((resolve) => {
      execFile(this.#file, [...at, ...command.split(" ")], { cwd, env }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, text: stdout + stderr }),
      );
    });
  }

  #told(text: string): string[] {
    const told = this.#symbols.text(text.replace(LOGGED, "")).replace(AGE, "<age>").replace(SPACES, "  ");
    return told
      .split("\n")
      .map((line) => line.trimEnd())
      .filter((line) => line !== "");
  }
}
