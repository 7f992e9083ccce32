import type { Command } from "../process/failure.ts";
import { leave } from "../process/interrupt.ts";

export const start: Command = {
  help: `Usage: virtual-workspaces start [flags]

Serves workspaces as kcp does, from one process: logical clusters below /clusters, each with namespaces, kinds and
permissions of its own. The flags are those of \`kcp start\`. A flag that is not known is a warning; one that would protect
something and is not implemented is refused. Ctrl-C or SIGTERM ends it cleanly, a second one at once.

Where:
  --root-directory <folder>          keys, certificates, the kubeconfig, the data     (default .kcp)
  --kubeconfig-path <file>           where administrators find their kubeconfig       (default admin.kubeconfig there)
  --bind-address <ip>                                                                 (default 0.0.0.0)
  --secure-port <port>                                                                (default 6443)
  --experimental-bind-free-port      any free port, with --secure-port=0
  --external-hostname <name>         as clients call it                               (default an address of this machine)
  --shard-base-url <url>             how it is reached                                (default https://<name>:<port>)
  --shard-external-url <url>         what workspaces say in their URLs                (default the base URL)
  --shard-virtual-workspace-url <url>  where virtual workspaces are                   (default the base URL)
                                     {shard} in its host is the name of the shard: with several each has its own
  --cluster-proxy-hub-url <url>      where this process is reached by itself, by other hubs and by agents
                                                                                      (default https://<name>:<port>)
  --miniproxy-mapping-file <file>    other servers behind paths below /services, as of front-proxy
  --run-virtual-workspaces=false     they are not here: requests below /services are passed on to that URL, with
  --shard-virtual-workspace-ca-file <file>           whom to trust there
  --shard-client-cert-file, --shard-client-key-file <file>   who we are there: somebody who may be anybody
  --feature-gates=CacheAPIs=false    no view keeps a resource of an export (storage.virtual); with these three files views
                                     at other servers may
  --view <file>                      serve a view, or several, over the workspaces; more than once for several files
  --mount-allow <hosts>              names, addresses and networks that workspaces may be mounted on, and space providers be at, although
                                     they are restricted: this machine, its links, where clouds give out credentials; by plain http too (default none)
  --mount-ca-file <file>             who certifies what objects of others' kinds lead to     (default as Node trusts)
  --mount-proxy-client-cert-file, --mount-proxy-client-key-file <file>  by which that knows us: then X-Remote-* says who asks
  --mount-caller-hosts <hosts>       who gets callers' own tokens by Mounts that say Caller         (default nobody)
  --tls-cert-file, --tls-private-key-file <file>  PEM                                 (default made in the root directory)
  --proxy-addresses <ip>,<subnet>    proxies in front, which bound the failed logins of their own clients: none are counted from there
                                     (default 127.0.0.0/8,::1)

Who:
  --batteries-included <names>       admin, workspace-types, user, mounts (the kind Mount and its view),
                                     cluster-proxy (ClusterProxies, their view and agents), spaces (Spaces in root:spaces),
                                     demo; +demo adds one
                                     (default admin,workspace-types)
  --token-auth-file <file>           lines of token,user,uid,"group1,group2"
  --home-workspaces-home-creator-groups <groups>  who gets a workspace of their own  (default system:authenticated)
  --enable-home-workspaces=false     nobody does
  --client-ca-file <file>            who certifies users                    (default made: client-ca.crt, client-ca.key)
  --anonymous-auth=false             nobody comes in without credentials
  --authentication-config <file>     Kubernetes' AuthenticationConfiguration; or
  --oidc-issuer-url, --oidc-client-id, --oidc-ca-file, --oidc-username-claim, --oidc-username-prefix,
  --oidc-groups-claim, --oidc-groups-prefix, --oidc-required-claim
  --workspace-issuer-allow <hosts>   names, addresses and networks at which workspace types may have issuers of tokens although they
                                     are restricted: this machine, its links, where clouds give out credentials (default none)
  --feature-gates=WorkspaceAuthentication=false  types do not say who may log in to their workspaces
  --requestheader-client-ca-file <file>  whose word about users is taken: a front proxy's. With it
  --requestheader-allowed-names, -username-headers, -uid-headers, -group-headers, -extra-headers-prefix
  --service-account-issuer <url>     the first issues                                 (default https://kcp.default.svc)
  --service-account-jwks-uri <url>   where its keys are, if not here
  --service-account-private-key-file <file>  signs                                    (default sa.key, made)
  --service-account-key-file <file>  has signed; more than once for several
  --api-audiences <names>            what tokens are for                              (default the issuers)

Objects:
  --etcd-servers <urls>              embedded, or https://a:2379,https://b:2379       (default embedded)
  --logical-cluster-total-object-limit <number>  in each workspace                    (default 0, no limit)
  --etcd-prefix, --etcd-cafile, --etcd-certfile, --etcd-keyfile, --etcd-credentials-file
  --embedded-etcd-directory <folder> where the embedded store is                      (default data in the root directory)
  --shards <number>                  shards in this process at least: root, shard-1 …  (default 1)

Operation:
  --audit-policy-file, --audit-log-path <file>  --audit-log-maxage, -maxbackup, -maxsize, -mode
  --shutdown-delay-duration <time>   serve on for so long while /readyz says no       (default 0)
  --logging-format <format>          text or json, on stderr                          (default text)
  --v <number>                       from 3 on requests are logged                    (default 2)
  --feature-gates <names>            Name=true,…; EnableDeprecatedAPIExportVirtualWorkspacesUrls=false leaves
                                     status.virtualWorkspaces of APIExports empty     (default true)`,

  async run(args) {
    const { startOptions } = await import("./options.ts");
    const options = startOptions(args, process.env);
    const { serve } = await import("./serve.ts");
    return leave(await serve(options));
  },
};
