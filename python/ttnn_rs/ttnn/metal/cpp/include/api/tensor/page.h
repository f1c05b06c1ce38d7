// A page of a walk over a tensor.
#pragma once

#include "ttnn_rs/base.h"

namespace tensor_accessor {

class Page {
public:
    Page(std::uint64_t noc_addr, std::uint32_t page_id) : address(noc_addr), number(page_id) {}
    std::uint64_t noc_addr() const { return address; }
    std::uint32_t page_id() const { return number; }

private:
    std::uint64_t address;
    std::uint32_t number;
};

class ShardPage : public Page {
public:
    ShardPage(std::uint64_t noc_addr, std::uint32_t page_id, std::uint32_t shard, std::uint32_t place) :
        Page(noc_addr, page_id), shard(shard), place(place) {}
    std::uint32_t shard_id() const { return shard; }
    std::uint32_t page_in_shard() const { return place; }

private:
    std::uint32_t shard;
    std::uint32_t place;
};

}  // namespace tensor_accessor
