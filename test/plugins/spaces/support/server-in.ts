// How a server of workspaces is started from source: by itself, since programs that are run again and again load it.
import { join } from "node:path";
import { localNode, root } from "../../../../tools/install.mjs";

const SERVER = [localNode, "--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts")] as const;
const ANYWHERE = ["--bind-address=127.0.0.1", "--secure-port=0", "--experimental-bind-free-port"] as const;

/** A server of workspaces in a folder, at any port of this machine. */
export const serverIn = (folder: string): readonly [string, ...string[]] => [
  ...SERVER,
  "start",
  `--root-directory=${folder}`,
  ...ANYWHERE,
];
