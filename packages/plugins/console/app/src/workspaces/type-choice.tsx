import { useId } from "preact/hooks";
import { texts } from "../texts.ts";
import type { TypeReference } from "./workspace.ts";
import type { AllowedTypes } from "./workspace-types.ts";

interface TypeChoiceProps {
  readonly allowed: AllowedTypes;
  /** Path and name of a type; "" is the default. */
  readonly chosen: string;
  readonly onChoose: (value: string) => void;
  readonly error: string | undefined;
}

/** The types that a new workspace may have, the default first, each with its explanation. */
export function TypeChoice({ allowed, chosen, onChoose, error }: TypeChoiceProps) {
  const id = useId();
  const words = texts.create;
  const { types, isLoading } = allowed;
  const first = allowed.default;
  const hasNone = !isLoading && types.length === 0 && first?.about === undefined;
  const choices = [
    { value: "", name: first?.name ?? words.defaultType, path: first?.path, about: first?.about },
    ...types.map(({ name, path, about }) => ({ value: valueOfType({ name, path }), name, path, about })),
  ];
  return (
    <div class="field">
      <fieldset class="choices" aria-describedby={`${id}-hint ${id}-error`}>
        <legend>{words.type}</legend>
        <div class="choices type-choices">
          {choices.map(({ value, name, path, about }) => (
            <label class="choice" key={value}>
              <input type="radio" name={id} value={value} checked={chosen === value} onChange={() => onChoose(value)} />
              <span>
                <strong>{name}</strong>{" "}
                {value === "" && first !== undefined && <span class="badge">{words.isDefault}</span>}{" "}
                {path !== undefined && <span class="muted">{texts.workspace.typeIn(path)}</span>}
                {about !== undefined && about !== "" && <span class="hint about">{about}</span>}
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <p class="hint" id={`${id}-hint`}>
        {hasNone ? words.noTypes : words.typeHint}
      </p>
      <p class="error" id={`${id}-error`} role="alert">
        {error}
      </p>
    </div>
  );
}

const valueOfType = ({ name, path = "" }: TypeReference): string => `${path}:${name}`;
