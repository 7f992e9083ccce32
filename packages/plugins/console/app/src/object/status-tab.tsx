import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { texts } from "../texts.ts";
import { WrapSwitch, YamlEditor } from "./editor/yaml-editor.tsx";
import { yamlOf } from "./yaml/object-text.ts";

/** The status of an object: written by controllers, here only to read. */
export function StatusTab({ status }: { readonly status: unknown }) {
  const text = useSignal(yamlOf(status));
  useLayoutEffect(() => {
    text.value = yamlOf(status);
  }, [status, text]);
  return (
    <div class="edit">
      <div class="edit-tools">
        <span class="checks">
          <WrapSwitch />
        </span>
      </div>
      <YamlEditor text={text} label={texts.object.tabs.status} isReadOnly />
    </div>
  );
}
