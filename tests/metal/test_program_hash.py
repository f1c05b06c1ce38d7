"""Hashes of program descriptors."""

from __future__ import annotations

import ttnn


def _program(geometry: ttnn.FaceGeometry | None) -> ttnn.ProgramDescriptor:
    form = ttnn.CBFormatDescriptor(0, ttnn.bfloat16, 2048)
    form.face_geometry = geometry
    return ttnn.ProgramDescriptor(kernels=[], semaphores=[], cbs=[ttnn.CBDescriptor(2048, None, [form])])


def test_face_geometry_changes_the_program_hash() -> None:
    geometries = (None, ttnn.FaceGeometry(), ttnn.FaceGeometry(8, 4), ttnn.FaceGeometry(8, 2))
    hashes = [ttnn.compute_program_descriptor_hash(_program(geometry)) for geometry in geometries]
    assert len(set(hashes)) == len(geometries)
    assert hashes[1] == ttnn.compute_program_descriptor_hash(_program(ttnn.FaceGeometry(16, 4)))
