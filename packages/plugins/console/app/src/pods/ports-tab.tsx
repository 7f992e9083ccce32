import "../object/object.css";
import "./pods.css";
import { useState } from "preact/hooks";
import { apiUrl, workspacePath } from "../api/base.ts";
import type { ObjectAddress } from "../api/objects.ts";
import { Copy, CopyKubeconfig } from "../kcp/copy.tsx";
import type { WholeObject } from "../object/live-object.ts";
import { Field } from "../ui/field.tsx";
import { containersOf } from "./pod.ts";
import { texts } from "./texts.ts";

interface PortsTabProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
}

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536;
/** A word for a shell. */
const quoted = (word: string): string =>
  /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** The command that forwards a port of a pod. */
export function PortsTab({ address, object }: PortsTabProps) {
  const ports = [...new Set(containersOf(object).flatMap((one) => one.ports))];
  const [remote, setRemote] = useState(String(ports[0] ?? 80));
  const [local, setLocal] = useState("8080");
  const server = apiUrl(workspacePath(address.workspace)).href;
  const words = ["kubectl", `--server=${server}`, `--namespace=${address.namespace}`, "port-forward"];
  const command = [...words, `pod/${address.name}`, `${local}:${remote}`].map(quoted).join(" ");
  const isValid = isPort(remote) && isPort(local);
  return (
    <div class="summary ports">
      <p>{texts.ports.hint}</p>
      <div class="row">
        <Field label={texts.ports.container} error={isPort(remote) ? undefined : texts.ports.invalid}>
          {(attributes) => (
            <input
              {...attributes}
              inputMode="numeric"
              list="ports"
              value={remote}
              onInput={({ currentTarget }) => setRemote(currentTarget.value)}
            />
          )}
        </Field>
        <datalist id="ports">
          {ports.map((port) => (
            <option key={port} value={port} />
          ))}
        </datalist>
        <Field label={texts.ports.local} error={isPort(local) ? undefined : texts.ports.invalid}>
          {(attributes) => (
            <input
              {...attributes}
              inputMode="numeric"
              value={local}
              onInput={({ currentTarget }) => setLocal(currentTarget.value)}
            />
          )}
        </Field>
      </div>
      {isValid && (
        <section aria-labelledby="port-command">
          <h3 id="port-command">{texts.ports.command}</h3>
          <p class="command">
            <code>{command}</code>
          </p>
          <p class="row">
            <Copy label={texts.copy} name={texts.ports.copyCommand} text={() => command} />
            <CopyKubeconfig url={server} name={address.workspace} />
          </p>
        </section>
      )}
    </div>
  );
}
