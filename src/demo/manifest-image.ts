/** What an environment's folder says should run: as much of Kustomize and of values files as the sample needs. */
import { parse } from 'yaml';

/** Reads a file of the folder; undefined when it is not there. */
export type ReadManifest = (name: string) => Promise<string | undefined>;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (given: unknown): Fields => (typeof given === 'object' && given !== null ? (given as Fields) : {});
const textOf = (given: unknown): string => (typeof given === 'string' || typeof given === 'number' ? String(given) : '');
const listOf = (given: unknown): readonly Fields[] => (Array.isArray(given) ? given.map(fieldsOf) : []);

const reference = (repository: string, tag: string, digest: string): string | undefined =>
  repository === '' ? undefined : `${repository}${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`;

/** The image of the environment's one container; undefined when the folder names none. */
export const imageOfFolder = async (read: ReadManifest): Promise<string | undefined> => {
  const kustomization = fieldsOf(parse((await read('kustomization.yaml')) ?? ''));
  const chart = listOf(kustomization['helmCharts'])[0];
  if (chart !== undefined) {
    const image = fieldsOf(fieldsOf(parse((await read(textOf(chart['valuesFile']))) ?? ''))['image']);
    return reference(textOf(image['repository']), textOf(image['tag']), textOf(image['digest']));
  }
  const image = listOf(kustomization['images'])[0];
  if (image === undefined) return undefined;
  return reference(textOf(image['newName']) || textOf(image['name']), textOf(image['newTag']), textOf(image['digest']));
};
