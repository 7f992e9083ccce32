// What kcp-operator makes of a VirtualWorkspace: arguments, mounts and containers, by the rules of its CompiledVirtualWorkspace
// controller. A field of the sample that these rules do not cover is an error.

interface InitContainerSpec {
  readonly name: string;
  readonly command: readonly string[];
  readonly args?: readonly string[];
  readonly kubeconfigSecretRef?: { readonly name: string };
  readonly volumes?: readonly Volume[];
  readonly volumeMounts?: readonly VolumeMount[];
}

interface Volume {
  readonly name: string;
  readonly configMap: { readonly name: string };
}

interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

export interface VirtualWorkspace {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly command?: readonly string[];
    readonly initContainers?: readonly InitContainerSpec[];
    readonly kubeconfigSecretRef?: { readonly name: string };
    readonly extraArgs?: readonly string[];
    readonly extraVolumes?: readonly Volume[];
    readonly extraVolumeMounts?: readonly VolumeMount[];
    readonly replicas?: number;
  };
}

/** A container, with the Secrets and ConfigMaps that it mounts by their path. */
export interface RenderedContainer {
  readonly name: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** Names of Secrets and ConfigMaps, by mount path. */
  readonly mounts: Readonly<Record<string, string>>;
}

export interface RenderedPod {
  readonly replicas: number;
  readonly initContainers: readonly RenderedContainer[];
  readonly server: RenderedContainer;
}

const ADMIN = "/etc/kcp/logical-cluster-admin-kubeconfig";

/** Returns the pod. @param cache whether the root shard has a cache server */
export function rendered(
  { spec, metadata: { name } }: VirtualWorkspace,
  { cache = false }: { readonly cache?: boolean } = {},
): RenderedPod {
  const shared = {
    "/etc/kcp/tls/ca/root": "root-ca",
    "/etc/kcp/tls/ca/server": "root-server-ca",
    "/etc/kcp/tls/ca/requestheader-client": "root-requestheader-client-ca",
    "/etc/kcp/tls/ca/client": "root-client-ca",
    "/etc/kcp/tls/server": `${name}-virtual-workspace-server`,
    ...(cache && {
      "/etc/cache-server/kubeconfig": "cache-kubeconfig",
      "/etc/cache-server/tls/ca/root": "cache-ca",
      "/etc/cache-server/tls/client-certificate": "cache-client-certificate",
    }),
  };
  const mountsOf = (
    path: string,
    own: { readonly name: string } | undefined,
    {
      extra = [],
      volumes = [],
    }: { readonly extra?: readonly VolumeMount[] | undefined; readonly volumes?: readonly Volume[] | undefined },
  ): Readonly<Record<string, string>> => ({
    ...shared,
    ...(own === undefined
      ? { [ADMIN]: "root-logical-cluster-admin-kubeconfig", "/etc/kcp/tls/logical-cluster-admin": `${name}-client` }
      : { [path]: own.name }),
    ...Object.fromEntries(
      extra.map((mount) => [mount.mountPath, volumes.find((one) => one.name === mount.name)?.configMap.name ?? ""]),
    ),
  });
  const own = "/etc/kcp/server-kubeconfig";
  const { kubeconfigSecretRef, extraArgs = [], extraVolumeMounts, extraVolumes, initContainers = [] } = spec;
  return {
    replicas: spec.replicas ?? 2,
    initContainers: initContainers.map((one) => ({
      name: one.name,
      command: one.command,
      args: one.args ?? [],
      mounts: mountsOf("/etc/kcp/init-kubeconfig", one.kubeconfigSecretRef, {
        extra: one.volumeMounts,
        volumes: one.volumes,
      }),
    })),
    server: {
      name: "kcp",
      command: spec.command ?? ["/virtual-workspaces"],
      args: [
        "--client-ca-file=/etc/kcp/tls/ca/client/tls.crt",
        "--tls-private-key-file=/etc/kcp/tls/server/tls.key",
        "--tls-cert-file=/etc/kcp/tls/server/tls.crt",
        "--bind-address=0.0.0.0",
        "--secure-port=6443",
        "--requestheader-client-ca-file=/etc/kcp/tls/ca/requestheader-client/tls.crt",
        "--requestheader-allowed-names=kcp-front-proxy,kcp-root-shard-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        `--kubeconfig=${kubeconfigSecretRef === undefined ? ADMIN : own}/kubeconfig`,
        "--shard-external-url=https://127.0.0.1:6443",
        ...(cache ? ["--cache-kubeconfig=/etc/cache-server/kubeconfig/kubeconfig"] : []),
        ...extraArgs,
      ],
      mounts: mountsOf(own, kubeconfigSecretRef, { extra: extraVolumeMounts, volumes: extraVolumes }),
    },
  };
}
