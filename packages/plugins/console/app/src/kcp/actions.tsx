import { useState } from "preact/hooks";
import { type Discovery, discovery } from "../api/discovery.ts";
import { texts } from "../texts.ts";
import { Lazy } from "../ui/lazy.tsx";

type DialogName = "export" | "bind" | "mount";

const LOAD = {
  export: () => import("./dialogs/dialogs.ts").then((module) => module.ExportDialog),
  bind: () => import("./dialogs/dialogs.ts").then((module) => module.BindDialog),
  mount: () => import("./dialogs/dialogs.ts").then((module) => module.MountDialog),
} as const;

/** Actions on the APIs of a workspace. The programs of the dialogs are loaded when one is opened. */
export function ApiActions({ workspace }: { readonly workspace: string }) {
  const [open, setOpen] = useState<DialogName>();
  const found = discovery(workspace).value;
  const canExport = serves(found, "apiexports") && serves(found, "apiresourceschemas");
  const canBind = serves(found, "apibindings");
  const words = texts.kcp;
  return (
    <>
      {canExport && (
        <button type="button" onClick={() => setOpen("export")}>
          {words.exportApi}
        </button>
      )}
      {canBind && (
        <button type="button" onClick={() => setOpen("bind")}>
          {words.bindExport}
        </button>
      )}
      {canBind && (
        <button type="button" onClick={() => setOpen("mount")}>
          {words.mountCluster}
        </button>
      )}
      {open !== undefined && (
        <Lazy key={open} load={LOAD[open]} with={{ workspace, onClose: () => setOpen(undefined) }} />
      )}
    </>
  );
}

const serves = ({ resources }: Discovery, resource: string): boolean =>
  resources.some((one) => one.group === "apis.kcp.io" && one.resource === resource);

/** A button that copies a kubeconfig for a URL. */
export function CopyKubeconfig({ url, name }: { readonly url: string; readonly name: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    const { copyKubeconfig } = await import("./kubeconfig-text.ts");
    await copyKubeconfig(url, name);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  if (!("clipboard" in navigator)) return null;
  return (
    <button type="button" class="link" onClick={() => void copy().catch(() => undefined)}>
      {isCopied ? texts.workspace.copied : texts.kcp.copyKubeconfig}
    </button>
  );
}
