// A kubectl for writes: manifests from files and stdin, scripts as editors, and output for people.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Program } from "../../go/support/program.ts";
import { TaskStage } from "../../go/support/tasks.ts";
import { nameOf } from "./kubectls.ts";

/** End of a run. */
export interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string;
  /** Script for the editor; the file to edit is $1. */
  readonly editor?: string;
}

/** A kubectl, and its own server of tasks. */
export class Writer implements AsyncDisposable {
  readonly stage: TaskStage;
  readonly #file: string;
  readonly #home: string;
  #files = 0;

  private constructor(file: string, stage: TaskStage) {
    this.#file = file;
    this.stage = stage;
    // A separate HOME, without the cache of another version.
    this.#home = join(stage.home.home, `home-of-${nameOf(file)}`);
    mkdirSync(this.#home, { recursive: true });
  }

  static async start(file: string): Promise<Writer> {
    return new Writer(file, await TaskStage.start());
  }

  /** Writes a file, and returns its path. */
  path(text: string): string {
    const path = join(this.#home, `file-${++this.#files}.yaml`);
    writeFileSync(path, text);
    return path;
  }

  /** Folder for output of scripts. */
  get folder(): string {
    return this.#home;
  }

  async run(args: readonly string[], { stdin, editor }: RunOptions = {}): Promise<Said> {
    const own = { HOME: this.#home, KUBECONFIG: this.stage.home.kubeconfig, KUBERC: "off", TMPDIR: this.#home };
    const editing = editor === undefined ? {} : { KUBE_EDITOR: this.#script(editor) };
    await using program = new Program(this.#file, args, { ...own, ...editing });
    for (const line of stdin === undefined ? [] : stdin.split("\n")) program.say(line);
    program.endInput();
    const { code } = await program.ended;
    // Newer versions name the namespace.
    const stdout = program.lines.map((line) => line.replace(" from default namespace", "")).join("\n");
    return { code, stdout, stderr: readable(program.stderr) };
  }

  /** Expects success. Returns stdout, and stderr after a `!`. */
  async told(args: string | readonly string[], options?: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await this.run(words(args), options);
    expect(code, `${words(args).join(" ")}: ${stderr}`).to.equal(0);
    return stderr === "" ? stdout : `${stdout}\n! ${stderr}`.trimStart();
  }

  /** Expects a failure, and returns the output. */
  async refused(args: string | readonly string[], options?: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await this.run(words(args), options);
    expect(code, `${words(args).join(" ")}: ${stdout}`).to.equal(1);
    return stderr;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
  }

  #script(text: string): string {
    const path = this.path(`#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  }
}

function words(args: string | readonly string[]): readonly string[] {
  return typeof args === "string" ? args.split(" ") : args;
}

/** Removes the lines of client-go's log, which sometimes calls a watch with a timeout very short. */
function readable(stderr: string): string {
  const lines = stderr.trimEnd().split("\n");
  return lines.filter((line) => !/^[IWE]\d{4} /.test(line)).join("\n");
}

/** Returns a manifest of a task. */
export function task(name: string, spec = "{ title: hello }", metadata = ""): string {
  return `apiVersion: example.dev/v1\nkind: Task\nmetadata: { name: ${name}${metadata} }\nspec: ${spec}\n`;
}
