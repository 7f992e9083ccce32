import type { Command } from "../process/failure.ts";
import { leave } from "../process/interrupt.ts";

export const serve: Command = {
  help: `Usage: virtual-workspaces [serve] --kubeconfig <file> --tls-cert-file <file> --tls-private-key-file <file> [flags]

Serves kcp's own views, and others that are named, over the workspaces of another server: of
\`virtual-workspaces start --run-virtual-workspaces=false\`, or of a kcp. The flags are those of kcp's own virtual-workspaces,
in whose place it can be put; one that would protect something and is not implemented is refused.

Workspaces:
  --kubeconfig <file>                an administrator of the workspaces of a shard, in system:masters
  --context <name>                   of the kubeconfig                      (default its current one)
  --cache-kubeconfig <file>          kcp's cache server, which tells of other shards (default the shard)
  --external-logical-cluster-admin-kubeconfig <file>  an administrator of the workspaces of all shards
                                     (a front proxy's; default --kubeconfig)

Views:
  --view <file>                      a file's default export is a view, a list of views, or a function of
                                     { upstream, identity, store, shard, everywhere } that returns either
  --shard-name <name>                the shard that the workspaces are on, for views that publish their URL
  --data-dir, --etcd-servers         where views keep objects of their own  (default memory); as of dev
  --fallback-url <url>               a server that has those of kcp's views that are not here, with
  --fallback-ca-file <file>          whom to trust there
  --fallback-client-cert-file, --fallback-client-key-file <file>  who we are there: somebody who may be anybody

Where:
  --bind-address <ip>                                                       (default 0.0.0.0)
  --secure-port <port>               0 for any free one                     (default 6444)
  --tls-cert-file, --tls-private-key-file <file>  PEM        (default .kcp/apiserver.crt and .key, where they are there)
  --proxy-addresses <ip>,<subnet>    proxies in front, which bound the failed logins of their own clients: none are counted from there
                                     (default 127.0.0.0/8,::1)

How many:
  --workers <n>                      processes that share the port; 0: one for each processor (default 1)
  --peers <url>,<url>                other replicas; this one may be among them
  --peer-ca-file <file>              who certifies replicas, as servers and as clients, and nobody else
  --proxy-client-cert-file, --proxy-client-key-file <file>  who this one is to other replicas

Who:
  --authentication-kubeconfig <file> whom tokens are asked about            (default --kubeconfig)
  --authentication-token-webhook-cache-ttl <time>  how long the answer is believed   (default 10s)
  --client-ca-file <file>            who certifies users, and shards: a member of system:masters may ask as anybody
  --anonymous-auth=false             nobody comes in without credentials
  --requestheader-client-ca-file <file>  whose word about users is taken: a front proxy's. With it
  --requestheader-allowed-names, -username-headers, -uid-headers, -group-headers, -extra-headers-prefix

Operation:
  --audit-policy-file, --audit-log-path <file>  --audit-log-maxage, -maxbackup, -maxsize, -mode
  --logging-format <format>          text or json, on stderr                (default text)
  --v <number>                       from 3 on requests are logged          (default 2)`,

  async run(args) {
    const { serveOptions } = await import("./options.ts");
    const options = serveOptions(args, process.env);
    for (const message of options.warnings) options.log({ level: "warn", message });
    const { workers, peers } = options.group;
    if (workers === 1 && peers === undefined) return leave(await (await import("./serve.ts")).serve(options));
    return leave(await (await import("./primary.ts")).serveAsGroup(args, options));
  },
};
