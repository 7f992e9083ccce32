import { useState } from "preact/hooks";
import { announce, confirmDone } from "../ui/announce.tsx";
import { kubeconfigFor } from "./kubeconfig-text.ts";
import { texts } from "./texts.ts";

interface CopyProps {
  /** What the button says. */
  readonly label: string;
  /** Name for screen readers, if the label says too little. */
  readonly name?: string;
  readonly text: () => string | Promise<string>;
  /** Confirms it, if the user has more to do. */
  readonly done?: string;
}

/** A button that puts a text into the clipboard. */
export function Copy({ label, name, text, done }: CopyProps) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  if (!("clipboard" in navigator)) return null;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await text());
      setState("copied");
      if (done === undefined) announce(texts.copied);
      else confirmDone(done);
    } catch {
      setState("failed");
    }
    setTimeout(() => setState("idle"), 2_000);
  };
  return (
    <button
      type="button"
      class="link"
      {...(name !== undefined && state === "idle" && { "aria-label": name })}
      onClick={() => void copy()}
    >
      {state === "copied" ? texts.copied : state === "failed" ? texts.notCopied : label}
    </button>
  );
}

/** A URL with its two buttons. */
export function Url({ url, name }: { readonly url: string; readonly name: string }) {
  return (
    <span class="url">
      <code>{url}</code>
      <Copy label={texts.copy} name={texts.copyUrl(url)} text={() => url} />
      <CopyKubeconfig url={url} name={name} label={texts.kubeconfig.copyFor(url)} />
    </span>
  );
}

interface CopyKubeconfigProps {
  readonly url: string;
  /** Name of the context. */
  readonly name: string;
  /** Name of the button for screen readers. */
  readonly label?: string;
}

/** A button that copies a kubeconfig for a URL. */
export function CopyKubeconfig({ url, name, label }: CopyKubeconfigProps) {
  return (
    <Copy
      label={texts.kubeconfig.copy}
      {...(label !== undefined && { name: label })}
      text={() => kubeconfigFor(url, name)}
      done={texts.kubeconfig.copied}
    />
  );
}
