/** What can be switched on and off, by button, key, address or script alike. */

export const TOGGLES = ["contacts", "forces", "follow", "collision", "stress", "shadows", "loop", "plots", "info", "help", "dark"] as const;
export type Toggle = (typeof TOGGLES)[number];

export class Toggles {
  private readonly values: Record<Toggle, boolean>;
  private readonly listeners: ((name: Toggle, on: boolean) => void)[] = [];

  constructor(initial: Partial<Record<Toggle, boolean>>) {
    this.values = Object.fromEntries(TOGGLES.map((name) => [name, initial[name] ?? false])) as Record<Toggle, boolean>;
  }

  get(name: Toggle): boolean {
    return this.values[name];
  }

  set(name: Toggle, on: boolean): void {
    if (this.values[name] === on) return;
    this.values[name] = on;
    for (const listener of this.listeners) listener(name, on);
  }

  flip(name: Toggle): void {
    this.set(name, !this.values[name]);
  }

  onChange(listener: (name: Toggle, on: boolean) => void): void {
    this.listeners.push(listener);
  }
}

export function isToggle(name: string): name is Toggle {
  return (TOGGLES as readonly string[]).includes(name);
}
