// A container without an engine: namespaces of its own for mounts and processes, the image's user without capabilities, and a root
// file system that is read-only. The network is that of the machine.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Tree, tree } from "../../_setup/tree.ts";
import { Program } from "../../go/support/program.ts";
import { configOf, imageRoot } from "./image.ts";

export interface ContainerOptions {
  /** In place of the image's entry point, as `command` of a pod. @default the entry point */
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  /** Folders of this machine by their path in the container, read-only. */
  readonly mounts?: Readonly<Record<string, string>>;
  /** Folders that the container may write, by their path there. */
  readonly writable?: Readonly<Record<string, string>>;
}

const OVERLAY = "mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged";

/** Skips the tests where the machine cannot make namespaces and overlays: that needs Linux, root and its capabilities. */
export function needsNamespaces(this: Mocha.Context): void {
  using folder = tree({ "lower/.keep": "", "upper/.keep": "", "work/.keep": "", "merged/.keep": "" });
  const args = ["--mount", "--pid", "--fork", "sh", "-c", OVERLAY];
  if (spawnSync("unshare", args, { cwd: folder.path }).status !== 0) this.skip();
}

/** The program is process 1 of the container, as in an engine without an init program. */
const SCRIPT = `set -e
root=$1 user=$2; shift 2
${OVERLAY.replace("lowerdir=lower", "lowerdir=$root")}
while [ "$1" != -- ]; do
  mkdir -p merged$2
  mount --bind "$3" merged$2
  if [ "$1" = ro ]; then mount -o remount,bind,ro merged$2; fi
  shift 3
done
shift
mount -o remount,ro merged
exec chroot --userspec="$user" merged "$@"`;

/** A running container, killed at the end of its `await using` block. */
export class Container extends Program {
  readonly #folder: Tree;

  private constructor(image: string, folder: Tree, options: ContainerOptions) {
    const { entrypoint, user } = configOf();
    const { command = entrypoint, args = [], mounts = {}, writable = {} } = options;
    const all = [
      ...Object.entries(mounts).flatMap(([at, from]) => ["ro", at, from]),
      ...Object.entries(writable).flatMap(([at, from]) => ["rw", at, from]),
    ];
    super(
      "unshare",
      ["--mount", "--pid", "--fork", "sh", "-c", SCRIPT, "sh", image, user, ...all, "--", ...command, ...args],
      {
        cwd: folder.path,
        NODE_COMPILE_CACHE: "",
        NODE_EXTRA_CA_CERTS: "",
      },
    );
    this.#folder = folder;
  }

  static async start(options: ContainerOptions): Promise<Container> {
    const folder = tree({ "upper/.keep": "", "work/.keep": "", "merged/.keep": "" });
    return new Container(await imageRoot(), folder, options);
  }

  /** Sends a signal to the program itself, as an engine does. */
  stop(signal: NodeJS.Signals = "SIGTERM"): void {
    process.kill(this.#program(), signal);
  }

  /** Returns the user of the program, its effective capabilities, and whether it is process 1 of the container. */
  identity(): { readonly uid: number; readonly capabilities: bigint; readonly init: boolean } {
    const status = readFileSync(`/proc/${this.#program()}/status`, "utf8");
    const [, uid] = /^Uid:\t(\d+)/m.exec(status) ?? [];
    const [, capabilities = "f"] = /^CapEff:\t(\w+)/m.exec(status) ?? [];
    const [, inside] = /^NSpid:.*\t(\d+)$/m.exec(status) ?? [];
    return { uid: Number(uid), capabilities: BigInt(`0x${capabilities}`), init: inside === "1" };
  }

  #program(): number {
    return Number(readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8").trim());
  }

  /** Port that the server has printed; 0 for none yet. */
  get port(): number {
    return Number(/ at https:\S+?:(\d+)/.exec(this.lines.join("\n"))?.[1] ?? 0);
  }

  /** Folder with the files that the container has written to its root. */
  get written(): string {
    return join(this.#folder.path, "upper");
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    // The program is not the child itself: without this it would outlive unshare.
    if (this.running) this.stop("SIGKILL");
    await super[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}
