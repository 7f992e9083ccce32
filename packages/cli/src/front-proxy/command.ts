import type { Command } from "../process/failure.ts";
import { leave } from "../process/interrupt.ts";

export const frontProxy: Command = {
  help: `Usage: virtual-workspaces front-proxy --mapping-file <file> --root-kubeconfig <file> --shards-kubeconfig <file>
         --tls-cert-file <file> --tls-private-key-file <file> [flags]

One address for the workspaces of all shards, by their paths, and for servers of virtual workspaces: before shards of ours, or of
a kcp. The flags are those of kcp-front-proxy, in whose place it can be put; one that would protect something and is not
implemented is refused.

Where requests go:
  --mapping-file <file>              what is behind which path, as kcp's: a list of path, backend (or backends, several that are as
                                     good as each other), backend_server_ca, proxy_client_cert, proxy_client_key, user_header,
                                     group_header, extra_header_prefix. /clusters/ is where workspaces are
  --path-mappings                    also what PathMappings in root say, objects that come and go: who may write these gets the requests
                                     below /services that the file has not, with tokens that nobody knows here (default false);
                                     "virtual-workspaces manifests @virtual-workspaces/front-proxy" prints their kind, for root
  --root-kubeconfig <file>           an administrator of the workspace root, where the shards are listed
  --shards-kubeconfig <file>         an administrator of the workspaces of every shard; its server does not count

Who:
  --client-ca-file <file>            who certifies users
  --token-auth-file <file>           users by tokens
  --oidc-issuer-url, --oidc-client-id, …, --authentication-config <file>  users of OpenID Connect, as of start
  --requestheader-client-ca-file <file>  whose word about users is taken. With it
  --requestheader-allowed-names, -username-headers, -uid-headers, -group-headers, -extra-headers-prefix
  --authentication-pass-on-groups <group>,<prefix>*  no other groups are told to shards   (default all)
  --authentication-drop-groups <group>,<prefix>*  nor are these            (default system:masters,
                                     system:kcp:logical-cluster-admin,system:kcp:initializer:*,system:kcp:terminator:*)
  --feature-gates=WorkspaceAuthentication=true  at paths with {cluster} types of workspaces say who may log in, too, as in kcp (default
                                     false); their issuers are not on this machine or its links, unless
  --workspace-issuer-allow <hosts>   names, addresses and networks has them
  Who is not known by these goes through with their token, and the shard finds out.

Where:
  --bind-address <ip>                                                       (default 0.0.0.0)
  --secure-port <port>               0 for any free one                     (default 443)
  --tls-cert-file, --tls-private-key-file <file>  PEM
  --proxy-addresses <ip>,<subnet>    proxies in front, which bound the failed logins of their own clients: none are counted from there
                                     (default 127.0.0.0/8,::1)

Operation:
  --shutdown-delay-duration <time>   goes on serving for so long while /readyz fails (default 0s)
  --audit-policy-file, --audit-log-path <file>  --audit-log-maxage, -maxbackup, -maxsize, -mode
  --logging-format <format>          text or json, on stderr                (default text)
  --v <number>                       from 3 on requests are logged          (default 2)`,

  async run(args) {
    const { frontProxyOptions } = await import("./options.ts");
    const options = frontProxyOptions(args);
    for (const message of options.warnings) options.log({ level: "warn", message });
    return leave(await (await import("./serve.ts")).serve(options));
  },
};
