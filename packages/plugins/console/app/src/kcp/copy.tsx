import { useState } from "preact/hooks";
import { announce } from "../ui/announce.tsx";
import { kubeconfigFor } from "./kubeconfig-text.ts";
import { texts } from "./texts.ts";

interface CopyProps {
  /** What the button says. */
  readonly label: string;
  /** Name for screen readers, if the label says too little. */
  readonly name?: string;
  readonly text: () => string;
}

/** A button that puts a text into the clipboard. */
export function Copy({ label, name, text }: CopyProps) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  if (!("clipboard" in navigator)) return null;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setState("copied");
      announce(texts.copied);
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
      <Copy label={texts.kubeconfig.copy} name={texts.kubeconfig.copyFor(url)} text={() => kubeconfigFor(url, name)} />
    </span>
  );
}
