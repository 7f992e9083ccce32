import { leave } from "../leave.ts";
import type { Command } from "../usage.ts";

export const serve: Command = {
  help: `Usage: virtual-workspaces serve --view <file> --kubeconfig <file> --tls-cert-file <file> --tls-private-key-file <file> [flags]

Serves views over the workspaces of another server: of \`virtual-workspaces start --run-virtual-workspaces=false\`, or of a
kcp. Flags have the names of kcp's own virtual-workspaces. A file's default export is a view, a list of views, or a
function of { upstream, identity, store, shard, everywhere } that returns either.

Workspaces:
  --view <file>                      more than once for several
  --kubeconfig <file>                an administrator of the workspaces, in system:masters
  --context <name>                   of the kubeconfig                      (default its current one)
  --shard-name <name>                the shard that they are on, for views that publish their URL
  --external-logical-cluster-admin-kubeconfig <file>  an administrator of the workspaces of all shards
                                     (a front proxy's; default --kubeconfig)
  --data-dir, --etcd-servers         where views keep objects of their own  (default memory); as of dev

Where:
  --bind-address <ip>                                                       (default 0.0.0.0)
  --secure-port <port>               0 for any free one                     (default 6444)
  --tls-cert-file, --tls-private-key-file <file>  PEM

Who:
  --authentication-kubeconfig <file> whom tokens are asked about            (default --kubeconfig)
  --authentication-skip-lookup       accepted: nothing is looked up
  --client-ca-file <file>            who certifies users, and shards: a member of system:masters may ask as anybody
  --anonymous-auth=false             nobody comes in without credentials
  --requestheader-client-ca-file <file>  whose word about users is taken: a front proxy's. With it
  --requestheader-allowed-names, -username-headers, -uid-headers, -group-headers, -extra-headers-prefix`,

  async run(args) {
    const [{ serveOptions }, { serve: run }] = await Promise.all([import("./options.ts"), import("./serve.ts")]);
    const log = (record: { readonly level: string; readonly message: string }): void => {
      if (record.level !== "info") console.error(JSON.stringify(record));
    };
    return leave(await run(serveOptions(args, process.env, log), log));
  },
};
