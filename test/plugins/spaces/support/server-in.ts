// Command line of a workspace server from source, in a module of its own, since programs that start often load it.
import { join } from "node:path";
import { localNode, root } from "../../../../tools/install.mjs";

const SERVER = [localNode, "--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts")] as const;
const ANYWHERE = [
  "--bind-address=127.0.0.1",
  "--secure-port=0",
  "--experimental-bind-free-port",
  "--keep-kubeconfig",
] as const;

/** Returns the command line of a workspace server in a directory, at any port of this machine. */
export const serverIn = (folder: string): readonly [string, ...string[]] => [
  ...SERVER,
  "start",
  `--root-directory=${folder}`,
  ...ANYWHERE,
];
