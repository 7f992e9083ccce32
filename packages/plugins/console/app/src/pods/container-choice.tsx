import { Field } from "../ui/field.tsx";
import type { Container } from "./pod.ts";
import { texts } from "./texts.ts";

interface ContainerChoiceProps {
  readonly containers: readonly Container[];
  readonly value: string;
  readonly onChange: (name: string) => void;
  readonly isDisabled?: boolean;
}

/** Chooses a container of a pod. */
export function ContainerChoice({ containers, value, onChange, isDisabled = false }: ContainerChoiceProps) {
  return (
    <Field label={texts.container}>
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          disabled={isDisabled}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          {containers.map(({ name, isInit }) => (
            <option key={name} value={name}>
              {isInit ? texts.init(name) : name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
