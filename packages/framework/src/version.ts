/** What `/version` answers (Kubernetes' version.Info). */
export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

/** The Kubernetes minor release whose wire behaviour is served: clients decide by it what they may ask. */
const KUBERNETES_MINOR = "37";

/** The version of the API that is served; build fields name this runtime. */
export function versionInfo(): VersionInfo {
  return {
    major: "1",
    minor: KUBERNETES_MINOR,
    gitVersion: `v1.${KUBERNETES_MINOR}.0+virtual-workspaces`,
    gitCommit: "",
    gitTreeState: "",
    buildDate: "",
    goVersion: "",
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch}`,
  };
}
